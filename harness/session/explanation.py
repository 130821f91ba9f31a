"""Select the SQL texts whose plans to show: of a set, of a run, or a user's own."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_databases, load_set
from harness.engines import EngineName, dialect_of, in_order
from harness.engines.base import EngineLost
from harness.engines.execution import Ending
from harness.engines.plans import QueryPlan
from harness.metrics.efficiency import same_text
from harness.runs.plans import ExplainedPair, ExplainedText, PlannedPair, TextKey
from harness.runs.reader import Run, key_of, read_previews, read_questions, require_questions, select
from harness.scoring.golds import Golds, NoGold
from harness.scoring.tasks import ExplainTask, Setup
from harness.scoring.workers import LocalWorkers
from harness.session.plan import equip
from harness.session.request import Request
from loaders.base.errors import brief
from loaders.bulk_load import Progress
from loaders.sample import PREDICTIONS


@dataclass(frozen=True)
class PairToExplain(PlannedPair[str]):
    """A gold and a prediction whose plans are wanted."""

    @property
    def texts(self) -> list[TextKey]:
        """The texts to explain."""
        return [(self.dialect, self.db_id, sql) for sql in (self.gold, self.prediction) if sql is not None]


@dataclass(frozen=True)
class Explainer:
    """Pairs whose plans are wanted, on engines that are up and have their databases loaded."""

    setup: Setup
    pairs: Sequence[PairToExplain]

    @property
    def texts(self) -> list[TextKey]:
        """The texts to explain, each once."""
        return list(dict.fromkeys(key for pair in self.pairs for key in pair.texts))

    def explained_texts(self, known: Container[TextKey] = ()) -> Iterator[ExplainedText]:
        """Yield every text with its plan; nothing else runs meanwhile.

        Args:
            known: texts to skip.
        """
        keys = [key for key in self.texts if key not in known]
        workers = LocalWorkers(self.setup, 1)
        try:
            yield from map(explain_texts(workers, keys), keys)
        finally:
            workers.close()

    def explained(self) -> Iterator[ExplainedPair]:
        """Yield every pair with its plans, in order; nothing else runs meanwhile."""
        keys = self.texts
        workers = LocalWorkers(self.setup, 1)
        try:
            found = explain_texts(workers, keys)
            for pair in self.pairs:
                texts: dict[str | None, ExplainedText] = {}
                for key in pair.texts:
                    texts[key[2]] = found(key)
                yield ExplainedPair(
                    pair.dialect,
                    pair.db_id,
                    texts.get(pair.gold),
                    texts.get(pair.prediction),
                    pair.name,
                    pair.question,
                    pair.without_gold,
                    pair.without_prediction,
                )
        finally:
            workers.close()


def explain_texts(workers: LocalWorkers, keys: Iterable[TextKey]) -> Callable[[TextKey], ExplainedText]:
    """Start explaining texts, in turn; return a function that waits for the plan of one."""
    futures: Mapping[TextKey, Future[QueryPlan]] = {
        key: workers.submit(ExplainTask(*key, counts=True)) for key in keys
    }

    def found(key: TextKey) -> ExplainedText:
        try:
            return ExplainedText(*key, plan=futures[key].result())
        except EngineLost as error:
            return ExplainedText(*key, plan=QueryPlan(Ending.ERROR, error=str(error)))

    return found


def explainer_of_set(
    request: Request, *, say: Callable[[str], None], progress: Progress | None = None
) -> Explainer:
    """Return the pairs of predictions for selected questions of a set.

    Args:
        request: as for an evaluation; questions without an answer are allowed.
        say: called with one line of progress at a time.
        progress: see `loaders.load`.

    Raises:
        BadInput: a file or an option is wrong.
        EngineUnavailable: a requested engine is not up.
    """
    everything = load_set(request.set_name, request.bird_home, on_server=True)
    for note in everything.notes:
        say(note)
    paths = request.predictions or ([PREDICTIONS] if request.set_name == "sample" else ())
    if not paths:
        raise BadInput(f"--set {request.set_name}: no predictions given; name a file or folder")
    files = _files(request, everything, paths, say)
    questions = request.selected_questions(everything)
    answered = in_order(file.dialect for file in files)
    equipped = equip(request, questions, answered, say=say, progress=progress)
    setup = equipped.setup
    golds = setup.golds()
    pairs = []
    for question in questions.questions:
        for file in sorted(files, key=lambda file: answered.index(file.dialect)):
            if file.dialect in setup.servers:
                gold, without = _gold(golds, question, file.dialect)
                prediction = file.predictions.get(question.key)
                reason = file.reasons.get(question.key, "there is no prediction")
                pairs.append(
                    PairToExplain(
                        file.dialect, question.db_id, gold, prediction, file.predictor, question.key,
                        without, None if prediction is not None else reason,
                    )
                )  # fmt: skip
    return Explainer(setup, pairs)


def _files(
    request: Request, questions: QuestionSet, paths: Sequence[Path], say: Callable[[str], None]
) -> list[PredictionFile]:
    """Return the prediction files, of the requested predictor only.

    Raises:
        BadInput: a file is wrong, or the predictor has none.
    """

    def read(predictor: str | None) -> list[PredictionFile]:
        return read_predictions(
            paths, questions, predictor=predictor, extract=request.extract, allow_missing=True,
            dialects=request.dialects, keys=request.answer_keys, say=say,
        )  # fmt: skip

    if request.predictor is None:
        return read(None)
    try:
        files = read(None)
    except BadInput:
        # The file names may lack the predictor's name.
        return read(request.predictor)
    found = [file for file in files if file.predictor == request.predictor]
    if not found:
        there = ", ".join(dict.fromkeys(file.predictor for file in files))
        raise BadInput(
            f"--predictor {brief(request.predictor)}: no predictions by this name; choose from {there}"
        )
    return found


def explainer_of_run(
    operand: str, request: Request, *, say: Callable[[str], None], progress: Progress | None = None
) -> Explainer:
    """Return the pairs of a run, or of a part of it, for selected questions, with the run's own texts.

    Args:
        operand: a run folder, or a part of it (`harness.runs.reader`).
        request: `keys` select questions, `seconds` is the limit; the rest is the run's. Without `keys`, the
           pairs are those that match with a text other than gold's.
        say: called with one line of progress at a time.
        progress: see `loaders.load`.

    Raises:
        BadInput: there is no such run, it has no such question, or its set is not found.
        EngineUnavailable: no engine of the run is up.
    """
    selection = select(operand)
    run = selection.run
    known, previews = read_questions(run.folder), read_previews(run.folder)
    results = [one for some in selection.results.values() for one in some]
    asked = {_key(key, results, operand) for key in request.keys}
    results = [
        one for one in results if one.question in asked or (not asked and one.outcome is Outcome.MATCH)
    ]
    if not results:
        raise BadInput(f"{operand}: no prediction matches, so there is nothing to explain; name a --question")
    everything = load_set(set_of(run), request.bird_home, on_server=True)
    request = replace(
        request,
        profile=Profile(run.manifest.get("profile", request.profile)),
        keys=[key for key in dict.fromkeys(one.question for one in results) if key in everything.by_key],
    )
    questions = request.choice.of(everything)
    dialects = in_order(one.dialect for one in results)
    results.sort(key=lambda one: dialects.index(one.dialect))
    setup = equip(request, questions, dialects, say=say, progress=progress).setup
    pairs = []
    for one in results:
        if one.dialect not in setup.servers:
            continue
        preview = previews.get(key_of(one))
        gold, without = _gold_of_a_run(known.get(one.question), one, preview.gold_sql if preview else None)
        if not asked and (gold is None or one.sql is None or same_text(one.sql, gold)):
            continue
        pairs.append(
            PairToExplain(
                one.dialect, one.db_id, gold, one.sql, one.predictor, one.question,
                without, None if one.sql is not None else one.error or "there is no prediction",
            )
        )  # fmt: skip
    return Explainer(setup, pairs)


def explainer_of_texts(  # noqa: PLR0913 - two texts, where to run them, and callbacks
    sql: str,
    gold: str | None,
    database: str,
    request: Request,
    *,
    say: Callable[[str], None],
    progress: Progress | None = None,
) -> Explainer:
    """Return one or two texts of the user as a pair on every requested engine.

    Args:
        sql: the text.
        gold: the text to compare it with.
        database: a SQLite file, or the name of a database of the set.
        request: the set, the engines (only SQLite if none is given), the limit.
        say: called with one line of progress at a time.
        progress: see `loaders.load`.

    Raises:
        BadInput: there is no such database.
        EngineUnavailable: a requested engine is not up.
    """
    if Path(database).exists():
        questions = load_databases(Path(database))
    else:
        questions = replace(request, db_ids=[database]).choice.of(
            load_set(request.set_name, request.bird_home, on_server=True)
        )
    if len(questions.db_ids) != 1:
        raise BadInput(f"--database {database}: has {len(questions.db_ids)} databases; name one SQLite file")
    [db_id] = questions.db_ids
    dialects = request.dialects or [Dialect.SQLITE]
    setup = equip(replace(request, dialects=dialects), questions, dialects, say=say, progress=progress).setup
    return Explainer(setup, [PairToExplain(dialect, db_id, gold, sql) for dialect in setup.servers])


def _gold(golds: Golds, question: Question, dialect: EngineName) -> tuple[str | None, str | None]:
    """Return the first gold of a question, or why there is none."""
    if dialect_of(dialect) in question.by_rows:
        return None, _BY_ROWS
    try:
        return golds.text(question.each(dialect_of(dialect))[0], dialect), None
    except NoGold as error:
        return None, str(error)


_BY_ROWS = "the reference is the rows of SQLite's gold; there is no gold text for this engine"


def _gold_of_a_run(
    question: Question | None, result: PairResult, translated: str | None
) -> tuple[str | None, str | None]:
    """Return the gold that a result was compared with, or why there is none."""
    language = dialect_of(result.dialect)
    if translated is not None:
        return translated, None
    if question is None:
        return None, "the run folder has no gold text"
    if language in question.by_rows:
        return None, _BY_ROWS
    found = question.each(language)[result.gold_index].gold.get(language)
    return found, None if found is not None else "the run folder has no gold text in this dialect"


def _key(name: str, results: Sequence[PairResult], operand: str) -> str:
    """Return the key of a question of a run.

    Raises:
        BadInput: the run has no such question.
    """
    keys = {one.question for one in results}
    if name in keys or (name := name.removesuffix("#1")) in keys:
        return name
    raise BadInput(f"--question {brief(name)}: {operand} has no result for it")


def set_of(run: Run) -> str:
    """Return the set of a run as its command named it: a path for a user's own set.

    Raises:
        BadInput: a lab has judged the run, on a set of its own.
    """
    require_questions(run)
    words = [str(word) for word in run.manifest.get("command", ())]
    named = next((word.removeprefix("--set=") for word in words if word.startswith("--set=")), None)
    return named or str(run.manifest.get("set") or Request.set_name)
