"""Commands in the documentation that no test can run as they stand there, each with the reason.

They are parsed instead: `tests/docs/test_commands.py` holds their options against the code.
"""

# ruff: noqa: E501 - a command stands here as it stands on its page
from collections.abc import Mapping
from enum import StrEnum


class Why(StrEnum):
    CI = ".ci/run does it as a part of another command, or with more options"
    DOWNLOADS = "it downloads published data or packages"
    DATA = "it reads published or large data that CI has in another place"
    HOURS = "it measures for many minutes"
    OWN = "it names the reader's own files, servers or runs"
    MODEL = "it asks a model; tests/harness/predictors does so with a server of its own"
    ENGINE = "tests/docs/test_engine.py runs it, with the package that its page installs"
    METRIC = "tests/docs/test_metric.py runs it, with the metric that its page adds"
    SERVES = "it serves until it is stopped; tests/harness/serve and adapters start and stop servers"
    TRACKS = "it needs a tracker; tests/harness/adapters logs offline"
    CLUSTER = "it takes several machines; tests/harness/scoring runs it on a cluster of one"


ELSEWHERE: Mapping[str, Why] = {
    "make check": Why.CI,
    "make test": Why.CI,
    "bird-harness analyze audit --set mini_dev --dialect all": Why.DATA,
    "bird-harness analyze audit --set mini_dev --pack audited.json": Why.DATA,
    "bird-harness eval --set mini_dev --predictions data/predictions --dialect sqlite --gold published --gold audited.json": Why.DATA,
    "bird-harness explain --set mini_dev --predictions data/predictions --predictor gpt-4 --question 1473 --dialect all": Why.DATA,
    "bird-harness analyze study --set mini_dev --predictions data/predictions --extract fences --dialect all --sample 150 --part e5": Why.DATA,
    'bird-harness explain --database shop.sqlite --gold gold.sql --sql "SELECT ..."': Why.OWN,
    "bird-harness analyze gap --set mini_dev --predictions data/predictions --extract fences": Why.DATA,
    "bird-harness analyze gap --set mini_dev --predictions data/predictions --extract fences --dialect postgresql --db financial --json": Why.DATA,
    "bird-harness analyze study --set mini_dev --predictions data/predictions --dialect all --sample 100 --part e6 --times": Why.DATA,
    "bird-harness analyze study --set mini_dev --predictions data/predictions --dialect all --sample 100 --part e7": Why.DATA,
    "bird-harness analyze study --set mini_dev --predictions data/predictions --dialect all": Why.DATA,
    "bird-harness analyze study --set mini_dev --set data/full/MINIDEV --part e1": Why.DATA,
    "bird-harness eval --set mini_dev --predictions data/predictions --extract fences --dialect all --metrics ex --out results/published": Why.DATA,
    "python -m benchmarks.dev_answers dev results/dev-answers": Why.DATA,
    "bird-harness eval --set mini_dev --predictions results/dev-answers/mini_dev --allow-missing --dialect sqlite --metrics ex --out results/chatgpt": Why.DATA,
    "BIRD_HOME=results/dev-answers bird-harness reproduce --set dev --metrics ex --out results/dev": Why.DATA,
    "BIRD_HOME=results/dev-answers python -m benchmarks.published_predictors results/published/latest results/chatgpt/latest results/dev/latest": Why.DATA,
    "bird-harness compare results/dev/latest:chatgpt results/dev/latest:chatgpt_knowledge --by type --metrics ex --format markdown": Why.DATA,
    "bird-harness report results/published/latest --by error-group": Why.DATA,
    "make setup": Why.CI,
    "make data SET=mini_dev": Why.DOWNLOADS,
    "make data SET=dev": Why.DOWNLOADS,
    "make reproduce SET=dev METRICS=ex,ves": Why.DATA,
    "make data SET=mini_dev_2025": Why.DOWNLOADS,
    'make load SET=mini_dev DIALECT=postgresql ARGS="--dump data/minidev/MINIDEV_postgresql/BIRD_dev.sql"': Why.DATA,
    'make load SET=mini_dev DIALECT=mysql ARGS="--dump data/minidev/MINIDEV_mysql/BIRD_dev.sql"': Why.DATA,
    'make data SET=mini_dev ARGS="--archive minidev.zip"': Why.OWN,
    "pip install 'bird-harness[ray]'": Why.DOWNLOADS,
    "pip install 'bird-harness[serve]'": Why.DOWNLOADS,
    "pip install 'bird-harness[mlflow]'": Why.DOWNLOADS,
    "pip install 'bird-harness[wandb]'": Why.DOWNLOADS,
    "bird-harness log results/latest --to wandb": Why.TRACKS,
    "bird-harness log results/latest --to mlflow --project sql": Why.TRACKS,
    "bird-harness serve --set sample --metrics ex,soft_f1": Why.SERVES,
    "bird-harness serve --databases train_databases --processes 2": Why.SERVES,
    "pip install 'bird-harness[mcp]'": Why.DOWNLOADS,
    "bird-harness mcp --set mini_dev": Why.SERVES,
    "bird-harness mcp --databases shop.sqlite --rows 20 --timeout 5": Why.SERVES,
    "vf-eval bird_sql --env.taskset.task.set-name mini_dev --env.taskset.may-look true -m MODEL": Why.MODEL,
    "make predict PREDICTOR=openai:MODEL SET=mini_dev DIALECT=all ARGS=--eval": Why.MODEL,
    "bird-harness predict openai:MODEL --set mini_dev --dialect all --eval": Why.MODEL,
    "bird-harness predict offline --set mini_dev --dialect sqlite --rows 3 --eval": Why.DATA,
    "bird-harness predict openai:MODEL --base-url http://localhost:8000/v1 --set mini_dev --limit 20": Why.MODEL,
    "bird-harness eval --metrics ex,row_recall": Why.METRIC,
    "pip install ./lite4": Why.ENGINE,
    "bird-harness status": Why.ENGINE,
    "cp loaders/sample/predictions/predict_sample_careless_sqlite.json predict_sample_careless_lite4.json": Why.ENGINE,
    "bird-harness eval --predictions loaders/sample/predictions --predictions predict_sample_careless_lite4.json --dialect sqlite,lite4": Why.ENGINE,
    "bird-harness report results/latest --format markdown": Why.ENGINE,
    "bird-harness compare results/latest:sqlite/careless results/latest:lite4/careless": Why.ENGINE,
    "bird-harness runs": Why.ENGINE,
    "bird-harness eval --ray local": Why.CLUSTER,
    "bird-harness eval --ray 10.0.0.1:6379": Why.CLUSTER,
    "bird-harness eval --ray auto": Why.CLUSTER,
    "bird-harness eval --resume results/20261121T104530Z-1a2b3c": Why.OWN,
    "make fuzz": Why.HOURS,
    "make fuzz QUERIES=3000 SEED=1123 ARGS=--even": Why.HOURS,
    'make fuzz QUERIES=2000 SEED=5 ARGS="--dialect mysql --out results/fuzz-5.md"': Why.HOURS,
    "python -m benchmarks.sqlite_tests sqlite-src/test results/suites/sqlite --each 60": Why.OWN,
    "make conformance SUITE=results/suites/sqlite SAMPLE=2500 SEED=5 OUT=results/sqlite TRANSLATOR=bird,sqlglot,polyglot": Why.HOURS,
    "python -m benchmarks.suites results/suites --set mini_dev --queries 1500": Why.HOURS,
    "pip install polyglot-sql": Why.DOWNLOADS,
    "make conformance SUITE=results/suites/golds-mini_dev OUT=results/golds TRANSLATOR=bird,sqlglot,polyglot": Why.HOURS,
    "make conformance SUITE=results/suites/fuzz OUT=results/fuzz TRANSLATOR=bird,sqlglot,polyglot": Why.HOURS,
    "make conformance SUITE=sqllogictest/test/select1.test OUT=results/select1": Why.OWN,
    "make conformance SUITE=sqllogictest/test/random SAMPLE=2000 SEED=1 OUT=results/random": Why.OWN,
    "pip install .": Why.DOWNLOADS,
    "python -m benchmarks.full_scale /data/full --generator $BIRD_HOME/twins/make_twins.py": Why.HOURS,
    "python -m benchmarks.full_scale /data/tenth --generator $BIRD_HOME/twins/make_twins.py --scale 0.1": Why.HOURS,
    'python -m benchmarks.evaluation --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect sqlite --workers 2 --runs 3': Why.HOURS,
    'python -m benchmarks.evaluation --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect mysql --workers 2 --runs 3': Why.HOURS,
    'python -m benchmarks.evaluation --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect postgresql --workers 2 --runs 3': Why.HOURS,
    'python -m benchmarks.evaluation --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect DIALECT --workers 2 --runs 1 --metrics ex,soft_f1,r_ves_stable --limit 60': Why.HOURS,
    'python -m benchmarks.overhead --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect DIALECT --workers 2 --runs 3': Why.HOURS,
    'python -m benchmarks.scaling --set mini_dev --predictions "$BIRD_HOME/predictions" --dialect DIALECT --workers 1,2,4 --runs 3': Why.HOURS,
    "python -m benchmarks.loading --set mini_dev --dialect postgresql --runs 3": Why.HOURS,
    "python -m benchmarks.soak --minutes 30": Why.HOURS,
    'python -m benchmarks.neighbours --of postgresql --on duckdb --predictions "$BIRD_HOME/predictions" --page': Why.DATA,
    "python -m benchmarks.growth --dialect postgresql --chart docs/images/growth.svg": Why.HOURS,
    "python -m benchmarks.growth --databases 150 --questions 60 --predictors 1 --steps 1": Why.HOURS,
    "python -m benchmarks.work measure --set mini_dev --predictions FILE --dialect mysql": Why.HOURS,
    "python -m benchmarks.work fit": Why.HOURS,
    "python -m benchmarks.question_types dev.sql": Why.DATA,
    "BIRD_SCHEMAS=150 .venv/bin/pytest tests/harness/session/test_twin_sets.py": Why.HOURS,
    "python -m benchmarks.joins --dialect mysql": Why.HOURS,
    "python -m benchmarks.joins --dialect postgresql": Why.HOURS,
    "python -m benchmarks.loading --set mini_dev --dialect mysql --db formula_1 --runs 1": Why.HOURS,
    "python -m benchmarks.loading --set mini_dev --dialect postgresql --scale 1.0": Why.HOURS,
    "bird-harness compare A B": Why.OWN,
    "bird-harness analyze chance results/latest": Why.OWN,
    "bird-harness analyze chance results/latest:sqlite/gpt-4 --seconds 0.2 --format markdown": Why.OWN,
    "bird-harness analyze replay results/latest/chance-20261126T120000Z-1a2b3c/witnesses/0123456789abcdef.json": Why.OWN,
    "bird-harness compare results/before results/after": Why.OWN,
    "bird-harness compare results/latest:gpt-4 results/latest:mixtral": Why.OWN,
    "bird-harness compare results/latest:sqlite results/latest:postgresql": Why.OWN,
    "bird-harness eval --set mini_dev --predictions answers/ --metrics ex,ts --variants 10": Why.DATA,
    "bird-harness eval --set dev      --predictions answers/ --metrics ex,ts --variants my-variants/": Why.DATA,
    "bird-harness twins --set mini_dev --out twins/seed-1": Why.DATA,
    "bird-harness twins --set mini_dev --schema schema.json --out twins/seed-1": Why.DATA,
    "bird-harness twins --schema shop.sqlite --questions shop.json --scale 0.5 --seed 7 --out twins/shop": Why.OWN,
    "bird-harness eval  --set mini_dev --predictions answers/ --metrics ex,ts --variants twins": Why.DATA,
    "bird-harness up": Why.OWN,
    "bird-harness eval --set mini_dev --predictions predict_mini_dev_gpt-4-32k_cot_SQLite.json --metrics ex,soft_f1,r_ves": Why.DATA,
    "git clone REPOSITORY bird-harness": Why.OWN,
    "cd bird-harness": Why.OWN,
}
