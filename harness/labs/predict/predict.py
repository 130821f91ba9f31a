"""Predict: from questions, engines, a predictor and a method to prediction files.

        <out>/manifest.json     the request, and what it cost
    <out>/journal.jsonl     every ask and reply (`harness.labs.predict.jobs`)
        <out>/answers.jsonl     every answer as received, the SQL extracted from it, or why there is none
    <out>/predictions/      predict_<set>_<predictor>_<dialect>.jsonl

Files are written whole or not at all. With several samples, one more file has the answers most of them agree
on.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from rich.console import Console

from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.descriptions import description_folder
from harness.data.outcomes import PairResult
from harness.data.prediction_files import ANSWERS, MANIFEST, PREDICTIONS
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set, name_of, with_readable_databases
from harness.engines import EngineName, dialect_of, kind_of, kinds_by_name
from harness.labs.predict.adapters import open_predictor, token_counter
from harness.labs.predict.budget import Budget, Meter, Pace, SpentBudget
from harness.labs.predict.jobs import (
    Correct,
    Job,
    JobResult,
    JobRunner,
    Journal,
    Place,
    correction,
    jobs,
    trials,
    votes,
)
from harness.labs.predict.methods import Method, make_method
from harness.labs.predict.passes import passes_grid
from harness.labs.predict.settings import Settings
from harness.predictors.base import BudgetSpent, DatabaseText, Problem, PromptTooLong, Usage
from harness.predictors.prompts import PromptOptions, show
from harness.predictors.schema import describe, read_database
from harness.report.console import Bars, loading_bar, print_grids
from harness.report.files import title_of, write_document
from harness.report.table_model import Document, listed
from harness.runs.reader import read_run
from harness.session.evaluation import run
from harness.session.plan import Equipped, equip
from harness.session.plan import prepare as prepare_evaluation
from harness.session.request import Request, within
from harness.session.request import check as check_request
from loaders.base.errors import EngineUnavailable, stopped_exit
from loaders.base.files import (
    Faults,
    TextFile,
    as_json,
    is_text,
    json_type,
    locked,
    read_json,
    read_json_lines,
    read_table,
    read_text,
    refuse,
    write_json,
)
from loaders.base.files import replace as replace_file
from loaders.base.paths import making
from loaders.bulk_load import Progress

MOST_SAMPLES = 100
_MOST_CORRECTIONS = 100

INCOMPLETE_EXIT = 1
"""Exit code of a run that a budget has ended."""

_TALKERS = ("openai", "azure")
"""Kinds of predictors that answer in prose; programs and files return SQL."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class PredictRequest:
    """What to predict, with which predictor and how.

    `request` holds set, dialects, limit, workers, cache and data as for an evaluation. `predictor` is a spec
    (`harness.labs.predict.adapters`), `name` the predictor's name, `out` the folder of its answers. `extract`
    None means the default for the kind of predictor. `samples` is how many answers each question gets,
    `corrections` how often one that does not run is requested again. `family` and `databases` are for a file
    of tasks.
    """

    request: Request
    predictor: str
    name: str
    out: Path
    settings: Settings = field(default_factory=Settings)
    budget: Budget = field(default_factory=Budget)
    method: str = "direct"
    options: PromptOptions = field(default_factory=PromptOptions)
    tokens: str | None = None
    extract: Extract | None = None
    samples: int = 1
    corrections: int = 0
    family: str | None = None
    databases: Path | None = None


class Asking(Protocol):
    """Everything that asking needs except the predictor."""

    @property
    def asked(self) -> PredictRequest:
        """The request."""
        ...

    @property
    def problems(self) -> Sequence[Problem]:
        """What is asked, in order."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Return what the manifest says of set and engines."""
        ...

    def correcting(self, method: Method) -> AbstractContextManager[Correct | None]:
        """Open what rejects answers that do not run; None without."""
        ...

    def write(self, answered: Sequence[JobResult], say: Say) -> list[Path]:
        """Write the files of answers; return their paths."""
        ...


@dataclass(frozen=True)
class PredictSetup:
    """Everything that asking needs except the predictor; `whole` is the set before the selection."""

    asked: PredictRequest
    method: Method
    whole: QuestionSet
    questions: QuestionSet
    equipped: Equipped
    problems: Sequence[Problem]

    def facts(self) -> Mapping[str, Any]:
        """See `Asking.facts`."""
        setup = self.equipped.setup
        return {
            "set": self.questions.name,
            "set_files": dict(self.questions.files),
            "questions": len(self.questions.questions),
            "dialects": list(setup.servers),
            "engines": {dialect: setup.engine(dialect).version() for dialect in setup.servers},
            "profile": setup.profile,
            "left_out": list(self.equipped.left_out),
        }

    @contextmanager
    def correcting(self, method: Method) -> Iterator[Correct | None]:
        """See `Asking.correcting`."""
        with trials(self.equipped.request, self.equipped.setup) as check_text:
            yield correction(method, check_text)

    def write(self, answered: Sequence[JobResult], say: Say) -> list[Path]:
        """See `Asking.write`."""
        return write_all(self, answered, say)


def check(asked: PredictRequest) -> tuple[Method, QuestionSet, QuestionSet]:
    """Reject impossible requests before anything starts; return the method, the whole set, and the selection.

    Raises:
        BadInput: an option, the set, the method or its templates are wrong.
    """
    within("--samples", asked.samples, 1, MOST_SAMPLES)
    within("--corrections", asked.corrections, 0, _MOST_CORRECTIONS, "rounds")
    check_request(asked.request, out="--results")
    method = make_method(asked.method, asked.options, token_counter(asked.tokens))
    whole = load_set(asked.request.set_name, asked.request.bird_home)
    questions = asked.request.choice.of(whole)
    if asked.options.evidence is not None:
        if not asked.options.knowledge:
            raise BadInput(f"--evidence {asked.options.evidence}: prompts have none; omit --no-knowledge")
        whole = with_evidence(whole, questions, asked.options.evidence)
    return method, whole, asked.request.choice.of(whole)


_ID, _EVIDENCE = "question_id", ("evidence", "external_knowledge", "knowledge")


def with_evidence(whole: QuestionSet, asked: QuestionSet, path: Path) -> QuestionSet:
    """Return a set with the evidence of a file in place of its own; empty evidence is none.

    The file is a JSON object from question ids to evidence; or records with `question_id` and `evidence`, as
    a JSON array, JSON lines or CSV.

    Args:
        whole: the set.
        asked: the questions that must have a record.
        path: the file.

    Raises:
        BadInput: it cannot be read, names no question or one twice, or lacks one.
    """
    file = read_text(path)
    found: dict[str, str] = {}
    faults = Faults(path, "record")
    for place, name, evidence in _evidence_records(file):
        if not is_text(evidence):
            faults.add(place, f"has no text as {_EVIDENCE[0]}", "write one, empty for none")
            continue
        number = name if isinstance(name, int) else int(name) if is_text(name) and name.isdecimal() else None
        try:
            is_key = is_text(name) and name in whole.by_key
            key = whole.key_of(name if is_key or number is None else number)
        except (BadInput, TypeError) as error:
            faults.add(place, f"names no question ({error})", "write a question_id of the set")
            continue
        if key in found:
            faults.add(place, f"question {key} a second time", "keep one")
        found[key] = evidence
    faults.stop()
    if lacking := [key for key in asked.by_key if key not in found]:
        refuse(path, f"has no evidence for question {listed(lacking)}", "add it, as an empty text for none")
    return replace(
        whole, questions=tuple(replace(one, evidence=found.get(one.key, "")) for one in whole.questions)
    )


def _evidence_records(file: TextFile) -> Iterator[tuple[int | str, Any, Any]]:
    """Yield the place, the question and the evidence of each record."""
    suffix = file.path.suffix.lower()
    records: Iterable[tuple[int, Any]]
    if suffix in {".csv", ".tsv"}:
        records = read_table(file, "\t" if suffix == ".tsv" else ",")[1]
    elif suffix == ".jsonl":
        records = read_json_lines(file)
    elif isinstance(content := read_json(file), dict):
        yield from ((key, key, evidence) for key, evidence in content.items())
        return
    elif isinstance(content, list):
        records = enumerate(content, start=1)
    else:
        refuse(file.path, f"is {json_type(content)}", "write an object of evidence by question, or records")
    for place, record in records:
        fields = record if isinstance(record, dict) else {}
        yield place, fields.get(_ID), next((fields[name] for name in _EVIDENCE if name in fields), None)


def prepare(  # noqa: PLR0913, PLR0917 - the results of `check`, and two callbacks
    asked: PredictRequest,
    method: Method,
    whole: QuestionSet,
    questions: QuestionSet,
    say: Say,
    progress: Progress | None = None,
) -> PredictSetup:
    """Find the engines, load the databases, and build the problems.

    Raises:
        BadInput: descriptions are wrong.
        EngineUnavailable: a requested engine is not up.
    """
    for note in whole.notes:
        say(note)
    dialects = asked.request.dialects or tuple(kinds_by_name())
    equipped = equip(asked.request, questions, dialects, say=say, progress=progress)
    return PredictSetup(
        asked, method, whole, questions, equipped, _problems(asked.options, questions, equipped, say)
    )


def show_prompt(asked: PredictRequest, key: str, say: Say) -> str:
    """Return the first prompt for a question in each dialect.

    Raises:
        BadInput: there is no such question.
        EngineUnavailable: a requested engine is not up.
    """
    method, whole, _ = check(asked)
    if key not in whole.by_key:
        raise BadInput(
            f"--show-prompt {key}: not a question of {whole.name}; give the key of one, such as"
            f" {whole.questions[0].key}"
        )
    ready = prepare(asked, method, whole, replace(whole, questions=(whole.by_key[key],)), say)
    shown = []
    for problem in ready.problems:
        try:
            stage, prompt = next(method.stages(problem))
        except PromptTooLong as too_long:
            shown.append(f"{problem.dialect}: {too_long.reason}\n")
        else:
            shown.append(f"{problem.dialect}, stage {stage}\n{show(prompt)}")
    return "\n".join(shown)


def _problems(options: PromptOptions, questions: QuestionSet, equipped: Equipped, say: Say) -> list[Problem]:
    """Build one problem for each question and dialect, in the order of the questions."""
    databases: dict[tuple[EngineName, str], DatabaseText] = {}
    fault: BadInput | None = None
    for dialect in equipped.setup.servers:
        engine = equipped.setup.engine(dialect)
        for db_id in questions.db_ids:
            if (dialect, db_id) in equipped.setup.missing_databases:
                continue
            place = equipped.setup.database(db_id, dialect)
            try:
                database = read_database(engine, place, rows=options.rows, kind=kind_of(dialect))
            except BadInput as error:
                fault = error
                say(f"{dialect}, {db_id}: skipped: {error}")
                continue
            databases[dialect, db_id] = database
            if options.descriptions:
                folder = description_folder(questions.databases, db_id)
                databases[dialect, db_id], left_over = describe(database, folder)
                for line in left_over if dialect == next(iter(equipped.setup.servers)) else ():
                    say(line)
    if fault is not None and not databases:
        raise fault
    return [
        Problem(
            each.key,
            each.text,
            each.evidence if options.knowledge else "",
            databases[dialect, each.db_id],
        )
        for each in questions.questions
        for dialect in equipped.setup.servers
        if (dialect, each.db_id) in databases
    ]


@dataclass(frozen=True)
class PredictResult:
    """The result of predicting: exit code, files, and the predictors in them that are samples of one."""

    code: int
    files: Sequence[Path]
    samples: Sequence[str]


def predict(
    asked: PredictRequest, say: Say, console: Console, progress: Progress | None = None
) -> PredictResult:
    """Ask every question in every dialect, and write prediction files.

    Asks answered by an earlier run in the same folder are not sent again. A stop (Ctrl-C, SIGTERM, a budget,
    a broken predictor) keeps all answers; the same command resumes.

    Raises:
        BadInput: an option, the set or the predictor is wrong.
        EngineUnavailable: a requested engine is not up.
    """
    method, whole, questions = check(asked)
    questions = with_readable_databases(questions, say)
    is_talker = asked.predictor.split(":", 1)[0] in _TALKERS
    policy = asked.extract or (Extract.ANSWER_1 if is_talker else Extract.NONE)
    with opened(asked, say) as (journal, meter):
        settings = asked.settings
        dialects = asked.request.dialects or tuple(kinds_by_name())
        predictor = open_predictor(asked.predictor, settings, meter, questions=whole, dialects=dialects)
        with closing(predictor):
            ready = prepare(asked, method, whole, questions, say, progress)
            runner = JobRunner(predictor, method, journal, policy, settings.concurrency)
            return ask_all(ready, runner, meter, say, console)


@contextmanager
def opened(asked: PredictRequest, say: Say) -> Iterator[tuple[Journal, Meter]]:
    """Open the folder of the answers: its journal, and the meter of what is spent."""
    with _folder(asked.out), closing(Journal(asked.out)) as journal:
        for note in journal.notes:
            say(note)
        pace = Pace(asked.settings.requests_per_minute, asked.settings.tokens_per_minute)
        yield journal, Meter(asked.budget, journal.usage, pace)


def ask_all(ready: Asking, runner: JobRunner, meter: Meter, say: Say, console: Console) -> PredictResult:
    """Ask every problem, and write manifest and answers."""
    asked = ready.asked
    wanted = jobs(ready.problems, asked.samples)
    method = dict(runner.method.identity)
    facts = {
        **ready.facts(),
        "tokens_counted_by": runner.method.prompter.tokens.name,
        "predictor": dict(runner.predictor.identity),
        "method": method | ({"corrections": asked.corrections} if asked.corrections else {}),
        "extract": runner.policy,
        "known_before": runner.journal.known,
    }
    write_manifest(asked, "running", facts, meter.snapshot())
    with ExitStack() as stack:
        if asked.corrections:
            runner.correct = stack.enter_context(ready.correcting(runner.method))
            runner.corrections = asked.corrections
        signals = stack.enter_context(_stoppable(runner, say))
        answered = _follow(runner, wanted, meter, console)
    write_answers(asked.out, answered, asked.budget)
    files = ready.write(answered, say)
    rest = len(wanted) - len(answered)
    write_manifest(asked, "broken off" if rest else "complete", facts, meter.snapshot())
    for line in summary(answered, meter.snapshot(), asked.out):
        say(line)
    code = stopped_exit(KeyboardInterrupt()) if signals else 0
    if runner.ended is not None:
        say(f"bird-harness: {runner.ended}")
        is_spent = isinstance(runner.ended, BudgetSpent)
        code = INCOMPLETE_EXIT if is_spent else EngineUnavailable.exit_code
    if rest:
        say(f"{rest} of {len(wanted)} answers were not requested; run the same command to resume")
    names = [sample_name(asked.name, number, asked.samples) for number in range(asked.samples)]
    return PredictResult(code, files, names if asked.samples > 1 else ())


@contextmanager
def _stoppable(runner: JobRunner, say: Say) -> Iterator[list[int]]:
    """Let the first signal stop asking, and the second one everything; yield the signals received."""
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)
        runner.stop()
        if len(came) > 1:
            runner.predictor.close()
            raise KeyboardInterrupt
        say("stopping: waiting for the answers in flight; press again to abandon them")

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield came
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _follow(runner: JobRunner, wanted: Sequence[Job], meter: Meter, console: Console) -> list[JobResult]:
    """Run jobs with a progress bar, and return their results in order."""
    done: dict[Job, JobResult] = {}
    missing = 0
    with Bars(console) as bars:
        bars.stage("asking", len(wanted))
        for answered in runner.run(wanted):
            done[answered.job] = answered
            missing += answered.sql is None
            live = f"{spent_in_words(meter.snapshot())}, {missing} without SQL"
            bars.advance(live=live)
    return [done[job] for job in wanted if job in done]


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Make a folder and lock it against other processes; remove it again if it stays empty."""
    with ExitStack() as stack:
        try:
            stack.enter_context(making(path))
            stack.callback(os.close, locked(path))
        except OSError as error:
            raise BadInput(
                f"--out {path}: cannot hold predictions ({error.strerror}); choose another folder"
            ) from error
        yield


MAJORITY = "majority"
"""Suffix of the predictor name for the answers that most samples agree with."""

SqlOrReason = tuple[str | None, str | None]
"""SQL, or None and the reason for having none."""

_SHOWN = 5
"""How many reasons are shown."""


def sample_name(name: str, sample: int, samples: int) -> str:
    """Return the predictor name of a sample: `name@1` and so on; `name` if there is only one."""
    return name if samples == 1 else f"{name}@{sample + 1}"


def write_answers(folder: Path, answered: Iterable[JobResult], budget: Budget) -> None:
    """Write `answers.jsonl`, with costs by the prices of the budget."""
    replace_file(folder / ANSWERS, "".join(f"{as_json(_answer(one, budget))}\n" for one in answered))


def _answer(one: JobResult, budget: Budget) -> dict[str, Any]:
    problem = one.job.problem
    times = [step.reply.seconds for step in one.steps]
    known = [seconds for seconds in times if seconds is not None]
    usage = sum((step.reply.usage for step in one.steps), Usage())
    return {
        "question": problem.question,
        "dialect": problem.dialect,
        "sample": one.job.sample,
        "sql": one.sql,
        "reason": one.reason,
        "text": one.text,
        "finish": one.steps[-1].reply.finish if one.steps else None,
        "model": one.steps[-1].reply.model if one.steps else None,
        "stages": [
            {
                "stage": step.stage,
                "prompt_tokens": step.prompt.tokens,
                "estimated": step.prompt.estimated,
                "dropped": list(step.prompt.dropped),
                "notes": list(step.prompt.notes),
            }
            for step in one.steps
        ],
        "requests": usage.requests,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "seconds": round(sum(known), 6) if known and len(known) == len(times) else None,
        "cost": None
        if usage.prompt_tokens is None or usage.completion_tokens is None
        else budget.cost(usage.prompt_tokens, usage.completion_tokens),
    }


def write_predictions(
    folder: Path,
    questions: QuestionSet,
    predictor: str,
    dialect: EngineName,
    answers: Mapping[str, SqlOrReason],
) -> Path:
    """Write one prediction file (docs/reference/file-formats.md) and return its path.

    Args:
        folder: the run's folder; the file goes below it.
        questions: the set; the file has its order.
        predictor: its name.
        dialect: the dialect of the answers.
        answers: by the question's key; questions may be missing.
    """
    lines = []
    for key in questions.order[dialect_of(dialect)]:
        if key not in answers:
            continue
        question = questions.by_key[key]
        sql, reason = answers[key]
        alone = len(questions.keys_of(question.question_id)) == 1
        record: dict[str, Any] = {
            "question_id": question.question_id if alone else key,
            "db_id": question.db_id,
        }
        record |= {"sql": sql} if sql is not None else {"sql": None, "reason": reason}
        lines.append(f"{as_json(record)}\n")
    path = folder / PREDICTIONS / f"predict_{questions.name}_{predictor}_{dialect}.jsonl"
    path.parent.mkdir(exist_ok=True)
    replace_file(path, "".join(lines))
    return path


def write_manifest(asked: PredictRequest, state: str, facts: Mapping[str, Any], spent: SpentBudget) -> None:
    """Write `manifest.json`.

    Args:
        asked: the request.
        state: `running`, `complete` or `broken off`.
        facts: about set, engines, predictor and method.
        spent: what it cost, in this run and earlier ones in the folder.
    """
    manifest = {
        "schema_version": 1,
        "state": state,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "harness": version("bird-harness"),
        "name": asked.name,
        **facts,
        "samples": asked.samples,
        "corrections": asked.corrections,
        "budget": asdict(asked.budget),
        "spent": asdict(spent),
    }
    write_json(asked.out / MANIFEST, manifest)


def summary(answered: Sequence[JobResult], spent: SpentBudget, out: Path) -> Iterator[str]:
    """Yield what a user must know about a run, line by line."""
    with_sql = sum(one.sql is not None for one in answered)
    yield f"{with_sql} of {len(answered)} answers have SQL; {spent_in_words(spent)}"
    reasons = Counter(one.reason for one in answered if one.reason is not None)
    for reason, count in reasons.most_common(_SHOWN):
        yield f"  {count} without SQL: {reason}"
    if len(reasons) > _SHOWN:
        yield f"  and {len(reasons) - _SHOWN} other reasons, in {ANSWERS}"
    shortened = sum(any(step.prompt.dropped for step in one.steps) for one in answered)
    if shortened:
        yield f"{shortened} answers had a prompt that was shortened to fit; {ANSWERS} lists what was left out"
    yield f"predictions: {out / PREDICTIONS}"


def spent_in_words(spent: SpentBudget) -> str:
    """Return requests, tokens and cost in words."""
    cost = "" if spent.cost is None else f", cost {spent.cost:.4f}"
    estimated = " (estimated in part)" if spent.estimated_tokens else ""
    tokens = f"{spent.prompt_tokens} + {spent.completion_tokens} tokens{estimated}"
    return f"{spent.requests} requests, {tokens}{cost}"


def write_all(ready: PredictSetup, answered: Sequence[JobResult], say: Say) -> list[Path]:
    """Write one file per dialect and sample, and one with the majority if there are several samples."""
    asked, dialects = ready.asked, tuple(ready.equipped.setup.servers)
    files: dict[tuple[EngineName, int], dict[str, SqlOrReason]] = {}
    given: dict[Place, list[SqlOrReason]] = {}
    for one in sorted(answered, key=lambda one: (dialects.index(one.job.problem.dialect), one.job.sample)):
        place = dialect, key = one.job.problem.dialect, one.job.problem.question
        files.setdefault((dialect, one.job.sample), {})[key] = one.sql, one.reason
        given.setdefault(place, []).append((one.sql, one.reason))
    named = {
        (dialect, sample_name(asked.name, number, asked.samples)): answers
        for (dialect, number), answers in files.items()
    }
    if asked.samples > 1:
        say("finding out which samples agree")
        texts = {place: [sql for sql, _ in answers] for place, answers in given.items()}
        named |= {(dialect, f"{asked.name}@{MAJORITY}"): {} for dialect in dialects}
        for place, number in votes(ready.equipped.request, ready.equipped.setup, texts).items():
            named[place[0], f"{asked.name}@{MAJORITY}"][place[1]] = given[place][number or 0]
    return [
        write_predictions(asked.out, ready.whole, name, dialect, answers)
        for (dialect, name), answers in named.items()
    ]


PASSES = "pass_at_k"
"""Name of the files with pass@k, in the folder of the predictions."""


def score_predicted(
    asked: PredictRequest, predicted: PredictResult, say: Callable[[str], None], console: Console
) -> int:
    """Score the predictions and print the tables.

    Returns:
        The exit code: 0, or 3 if a pair ended in a harness error.

    Raises:
        BadInput: no file has an answer.
        EngineUnavailable: a requested engine is no longer up.
    """
    # Questions outside the selection were not asked.
    request = replace(
        asked.request,
        predictions=predicted.files,
        answer_keys=(),
        allow_missing=bool(str(asked.request.choice)),
    )
    with loading_bar(console) as progress:
        plan = prepare_evaluation(request, say=say, progress=progress)
    with plan:
        done = run(plan, console)
    done.print_scores()
    if predicted.samples:
        _passes(asked, done.path.name, read_run(done.path).results, predicted.samples, say)
    done.require_written()
    return done.exit_code


def _passes(
    asked: PredictRequest,
    run_id: str,
    results: Sequence[PairResult],
    samples: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """Print pass@k and save it with the predictions."""
    grid = passes_grid(asked.name, results, samples)
    print_grids([grid])
    document = Document(run_id, (f"{name_of(asked.request.set_name)}, {asked.name}",), (grid,))
    for path in write_document(asked.out, PASSES, document, title_of(document)):
        say(f"written: {path}")
