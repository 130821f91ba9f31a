# Run text-to-SQL predictions on several database engines. Every target is a thin call of bird-harness.

.DEFAULT_GOAL := help
.PHONY: help setup up down status images data describe load eval predict report runs reproduce compare coverage translate conformance twins ci-matrix docs check test test-all fuzz lint format lock bench clean

#: Variables (make eval DIALECT=postgresql PREDICTIONS=my_predictions/)
DIALECT ?=#     sqlite, mysql, postgresql or all; default: every engine that is up
PREDICTIONS ?=# prediction file or folder; default: the sample's own
SET ?=#         sample (default), sample_tasks (for `eval`), mini_dev, mini_dev_2025, dev, train, spider, ... (from BIRD_HOME, default ./data), or the path of another set
PREDICTOR ?=#   who answers for `predict`: offline (default), openai:MODEL, command:WORDS, ... (docs/how-to/predictors.md)
METRICS ?=#     names separated by commas (default: ex,soft_f1); docs/reference/metrics.md lists them
VARIANTS ?=#    for METRICS=ts: a folder of variants of the databases, or how many to generate
PROFILE ?=#     official (default of eval) or faithful
WORKERS ?=#     number of judging processes; default: one per core
LIMIT ?=#       only the first LIMIT questions
OUT ?=#         where run folders go; default: results
RESUME ?=#      for `eval` and `reproduce`: the run folder that they complete; the run says the rest
A ?=#           what `compare` compares: a run folder, or FOLDER:PREDICTOR, FOLDER:DIALECT, FOLDER:DIALECT/PREDICTOR
B ?=#           and what with
SUITE ?=#       folder of sqllogictest files or of databases with queries, for `conformance`
SAMPLE ?=#      how many queries of SUITE `conformance` runs, chosen by SEED; default: all
TRANSLATOR ?=#  for `conformance`: bird (default), or bird with sqlglot or polyglot, separated by commas
QUERIES ?=#     how many queries `fuzz` generates; default: 10000
RUN ?=#         the run folder that `report` makes the reports of; default: results/latest
FORMAT ?=#      for `report`: console, markdown, csv, latex, json or html; default: the tables, and every file; for `describe`: the same but csv
BY ?=#          for `report`: difficulty, database, outcome, error-class, error-group, construct or type
SEED ?=#        which queries `fuzz` generates and `conformance` samples (default: 0), which rows `twins` makes up (default: 1)
TO ?=#          folder that `twins` puts databases in, or `report` its files; the file that `describe` writes
NATIVE ?=#      NATIVE=1: private servers without Docker and without root
LOADED ?=#      LOADED=1: images with the databases of SET inside, so that `make up` starts with them
ARGS ?=#        anything else for the command, e.g. ARGS="--extract fences"

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3.14 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
UV := $(or $(shell command -v uv 2>/dev/null),$(BIN)/uv)
HARNESS := $(BIN)/bird-harness

# uv shows its progress; which packages it were is in the lock.
install = "$(UV)" pip install --python $(BIN)/python --require-hashes -r $(1)

# Where $(PYTHON) has pip, that one installs uv, and uv the pip that comes with Python: `venv` takes two seconds for it.
PIP := install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
WHEELS := $$("$(PYTHON)" -c 'import ensurepip; print(*ensurepip.__path__)' 2>/dev/null)/_bundled
define install_uv
if "$(PYTHON)" -m pip --python $(BIN)/python --version >/dev/null 2>&1; \
then "$(PYTHON)" -m pip --python $(BIN)/python $(PIP); \
else $(BIN)/python -m ensurepip --default-pip >/dev/null && $(BIN)/python -m pip $(PIP); fi
endef

# A misspelt variable would be ignored, and the command mean something else.
known := $(shell sed -n 's/^\([A-Z]*\) ?=\#.*/\1/p' $(firstword $(MAKEFILE_LIST))) PYTHON VENV UV SHELL MAKEFLAGS
passed := BIRD_% MYSQL_% POSTGRES_% DOCKER_% COMPOSE_% OPENAI_% AZURE_% HF_% PYTEST_% UV_% PIP_%
given := $(foreach name,$(.VARIABLES),$(if $(findstring command line,$(origin $(name))),$(name)))
wrong := $(firstword $(filter-out $(known) $(passed),$(given)))
ifneq ($(wrong),)
near := $(shell "$(PYTHON)" -c 'import difflib, sys; print(*difflib.get_close_matches(sys.argv[1].upper(), sys.argv[2:], 1, 0.65))' $(wrong) $(known))
$(error there is no variable $(wrong)$(if $(near),; perhaps $(near) is meant,): `make` alone lists them; one for the environment goes before make)
endif

on_set := $(if $(SET),--set "$(SET)")
on_dialect := $(if $(DIALECT),--dialect "$(DIALECT)")
on_profile := $(if $(PROFILE),--profile "$(PROFILE)")

help: ## print this help
	@awk 'BEGIN {FS = ":.*## "} \
	  /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2} \
	  /^#: / {printf "\n%s\n", substr($$0, 4)} \
	  /^[A-Z]+ \?=#/ {split($$0, part, / \?=# */); printf "  %-15s %s\n", part[1], part[2]}' $(MAKEFILE_LIST)

# What running needs, and what developing needs beside it: each from a lock of its own, in one environment.
RUNNING := $(VENV)/.ready
DEVELOPING := $(VENV)/.dev

setup: $(DEVELOPING) ## install everything into .venv, for development, too, with hashes checked

$(RUNNING): requirements/run.txt requirements/uv.txt pyproject.toml harness/__init__.py
	@test -n "$(PYTHON)" || { echo "make: Python 3.11 or later is needed: install it, or name it with PYTHON=..." >&2; exit 2; }
	@echo "installing what running needs into $(VENV), once (requirements/run.txt)"
	@test -x $(BIN)/python || "$(PYTHON)" -m venv --without-pip $(VENV)
	@test -x "$(UV)" || { $(install_uv); }
	@$(call install,requirements/run.txt)
	@"$(UV)" pip install --quiet --python $(BIN)/python --no-index --find-links "$(WHEELS)" pip 2>/dev/null || true
	@"$(UV)" pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(DEVELOPING): $(RUNNING) requirements/dev.txt
	@echo "installing what developing needs into $(VENV), once (requirements/dev.txt)"
	@$(call install,requirements/dev.txt)
	@touch $@

up: $(RUNNING) ## start MySQL and PostgreSQL (Docker Compose; NATIVE=1: without Docker) and wait until they answer
	@$(HARNESS) up $(on_set) $(on_dialect) $(if $(filter-out 0 no false,$(NATIVE)),--native) $(ARGS)

down: $(RUNNING) ## stop what `up` started (ARGS=--volumes: remove the loaded databases, too)
	@$(HARNESS) down $(ARGS)

status: $(RUNNING) ## show which engines and databases are ready, and how to add the rest
	@$(HARNESS) status $(on_set) $(ARGS)

images: $(RUNNING) ## build the server images from Debian packages, where no registry can be reached (LOADED=1: with SET inside)
	@$(HARNESS) up --build --no-start $(if $(filter-out 0 no false,$(LOADED)),--loaded $(on_set)) $(on_dialect) $(ARGS)

data: $(RUNNING) ## download the published package of SET (ARGS="--archive FILE": one that you have)
	@$(HARNESS) data $(on_set) $(ARGS)

describe: $(RUNNING) ## describe SET: sizes, values, SQL, keywords (ARGS="--set OTHER": compare with another)
	@$(HARNESS) describe $(on_set) $(if $(FORMAT),--format "$(FORMAT)") $(if $(TO),--out "$(TO)") $(ARGS)

load: $(RUNNING) ## load the databases of SET into the servers that are up
	@$(HARNESS) load $(on_set) $(on_dialect) $(on_profile) $(ARGS)

eval: $(RUNNING) ## score PREDICTIONS and print the table
	@$(HARNESS) eval $(on_set) $(on_dialect) $(on_profile) $(if $(PREDICTIONS),--predictions "$(PREDICTIONS)") \
	  $(if $(METRICS),--metrics "$(METRICS)") $(if $(VARIANTS),--variants "$(VARIANTS)") $(if $(WORKERS),--workers "$(WORKERS)") \
	  $(if $(LIMIT),--limit "$(LIMIT)") $(if $(OUT),--out "$(OUT)") $(if $(RESUME),--resume "$(RESUME)") $(ARGS)

predict: $(RUNNING) ## ask PREDICTOR for SQL and write prediction files (ARGS=--eval: and score them)
	@$(HARNESS) lab predict $(if $(PREDICTOR),"$(PREDICTOR)",offline) $(on_set) $(on_dialect) $(if $(METRICS),--metrics "$(METRICS)") \
	  $(if $(WORKERS),--workers "$(WORKERS)") $(if $(LIMIT),--limit "$(LIMIT)") $(if $(OUT),--results "$(OUT)") $(ARGS)

report: $(RUNNING) ## make the reports of RUN again, from its folder alone
	@$(HARNESS) report "$(or $(RUN),results/latest)" $(if $(FORMAT),--format "$(FORMAT)") $(if $(BY),--by "$(BY)") $(if $(TO),--out "$(TO)") $(ARGS)

runs: $(RUNNING) ## list runs, the newest first
	@$(HARNESS) runs $(if $(OUT),--out "$(OUT)") $(ARGS)

reproduce: $(RUNNING) ## score the published predictions of Mini-Dev: published figures, ours, the difference (SET=dev: of BIRD dev)
	@$(HARNESS) lab reproduce $(on_set) $(on_dialect) $(if $(PREDICTIONS),--predictions "$(PREDICTIONS)") $(if $(METRICS),--metrics "$(METRICS)") \
	  $(if $(WORKERS),--workers "$(WORKERS)") $(if $(OUT),--out "$(OUT)") $(if $(RESUME),--resume "$(RESUME)") $(ARGS)

compare: $(RUNNING) ## compare two runs, predictors or engines: A=results/one B=results/other
	@$(HARNESS) compare $(if $(A),"$(A)") $(if $(B),"$(B)") $(if $(METRICS),--metrics "$(METRICS)") $(ARGS)

coverage: $(RUNNING) ## prove which golds answer the same on the other engines as on SQLite
	@$(HARNESS) coverage $(on_set) $(on_dialect) $(on_profile) $(if $(WORKERS),--workers "$(WORKERS)") \
	  $(if $(LIMIT),--limit "$(LIMIT)") $(if $(OUT),--out "$(OUT)") $(ARGS)

translate: $(RUNNING) ## write the golds of SET in DIALECT into OUT, with certificates: a question set again
	@$(HARNESS) translate --set "$(or $(SET),sample)" --dialect "$(or $(DIALECT),all)" --out "$(or $(OUT),results/translated)" \
	  $(if $(WORKERS),--workers "$(WORKERS)") $(ARGS)

conformance: $(RUNNING) ## run the queries of SUITE on SQLite and, translated, on the servers, and count what became of them
	@$(HARNESS) lab conformance $(if $(SUITE),"$(SUITE)") $(on_dialect) $(if $(TRANSLATOR),--translator "$(TRANSLATOR)") \
	  $(if $(SAMPLE),--sample "$(SAMPLE)") $(if $(SEED),--seed "$(SEED)") $(if $(WORKERS),--workers "$(WORKERS)") \
	  $(if $(OUT),--out "$(OUT)") $(ARGS)

ci-matrix: $(RUNNING) ## coverage on each engine version whose image or server is here, as CI runs it on all of them
	@$(HARNESS) lab matrix $(on_set) $(on_dialect) $(if $(LIMIT),--limit "$(LIMIT)") $(if $(OUT),--out "$(OUT)") $(ARGS)

twins: $(RUNNING) ## make synthetic databases for SET into TO
	@$(HARNESS) lab twins $(on_set) $(if $(TO),--out "$(TO)") $(if $(SEED),--seed "$(SEED)") $(if $(WORKERS),--workers "$(WORKERS)") $(ARGS)

LINT := $(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/mypy && $(BIN)/lint-imports

# Lint keeps one core busy, and mypy from an empty cache for long: the tests do not wait for it. What it says comes last.
# $(MAKE) is not called for it, as its line would run under `make -n`, too.
check: $(DEVELOPING) ## lint, and run the tests that need no server and little time: what to run before every commit
	@said=$$(mktemp); { $(LINT); } >"$$said" 2>&1 & lint=$$!; \
	trap 'kill $$lint 2>/dev/null; exit 130' INT TERM; \
	trap 'tested=$$?; wait $$lint; linted=$$?; cat "$$said"; rm -f "$$said"; exit $$((tested | linted))' EXIT; \
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not engine and not slow and not thorough' $(ARGS)

test: $(DEVELOPING) ## test every promise on every engine once, on every core (ARGS="-n 0": in one process); servers come from Docker, or are private native ones
	@$(BIN)/python -m pytest -n auto --dist worksteal -m 'not thorough' $(ARGS)

test-all: $(DEVELOPING) ## run all tests, the thorough ones, too: hostile texts, faults, images, browsers, frameworks, benchmarks
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

fuzz: $(DEVELOPING) ## generate SQLite queries and compare every engine's rows with SQLite's; needs `make up`
	@$(BIN)/python -m tests.fuzz $(if $(QUERIES),--queries "$(QUERIES)") $(if $(SEED),--seed "$(SEED)") $(ARGS)

docs: $(DEVELOPING) ## build the documentation into site/, with links and anchors checked
	@$(BIN)/python -m tests.docs.reference --check
	@$(BIN)/python -m tests.docs.example
	@$(BIN)/zensical build --strict --clean

lint: $(DEVELOPING) ## style, types and the arrows between the rooms
	@$(LINT)

format: $(DEVELOPING) ## rewrite the code in the project's style
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

lock: $(DEVELOPING) ## choose the newest dependencies that pyproject.toml allows and lock them
	"$(UV)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra dev --group build pyproject.toml --output-file requirements/dev.txt
	cp requirements/dev.txt requirements/run.txt # what stands in a lock is kept, so that both agree
	"$(UV)" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra hf --extra models --extra serve --group build pyproject.toml --output-file requirements/run.txt
	"$(UV)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra inspect --extra lm-eval --extra verifiers --group build pyproject.toml \
	  --output-file requirements/adapters.txt # for tests/harness/adapters/test_frameworks.py
	"$(UV)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --extra openenv --group build pyproject.toml --output-file requirements/openenv.txt # needs mcp 1
	echo uv | "$(UV)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-header - --output-file requirements/uv.txt
	printf 'skyrl-gym\ntrl\nverl\n' | "$(UV)" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	  --no-deps --no-emit-index-url --no-header - --output-file requirements/sources.txt

bench: $(DEVELOPING) ## measure the harness and the translator against peers, in the same run
	@$(BIN)/python -m benchmarks.evaluation $(ARGS)
	@$(BIN)/python -m benchmarks.translation $(if $(SET),--set "$(SET)")
	@$(BIN)/python -m benchmarks.alignment

clean: ## remove what `make` made here, apart from results and .env
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache dist site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
