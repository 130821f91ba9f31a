"""Texts with their plans: of a set, of a run, which keeps them in its folder, or a user's own."""

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_databases, load_set
from harness.engines import EngineName, dialect_of, in_order
from harness.engines.base import EngineLost
from harness.engines.execution import Ending
from harness.engines.plans import PlanComparison, QueryPlan, compare_plans
from harness.runs.plans import PLANS, ExplainedText, TextKey, read_plans
from harness.scoring.golds import Golds, NoGold
from harness.scoring.tasks import ExplainTask, Setup
from harness.scoring.workers import LocalWorkers
from harness.session.plan import equip
from harness.session.request import Request
from harness.session.run_texts import BY_ROWS, PairOfTexts, TextPair
from loaders.base.errors import brief
from loaders.base.files import locked, refuse
from loaders.base.records import Recorder
from loaders.bulk_load import Progress
from loaders.sample import PREDICTIONS


@dataclass(frozen=True)
class ExplainedPair(TextPair[ExplainedText]):
    """A pair with its plans."""

    @cached_property
    def comparison(self) -> PlanComparison | None:
        """Compare the two plans; None if one is missing."""
        gold = self.gold.plan.root if self.gold else None
        prediction = self.prediction.plan.root if self.prediction else None
        return None if gold is None or prediction is None else compare_plans(gold, prediction)


@dataclass(frozen=True)
class Explainer:
    """Pairs whose plans are wanted, on engines that are up and have their databases loaded."""

    setup: Setup
    pairs: Sequence[PairOfTexts]

    @property
    def texts(self) -> list[TextKey]:
        """The texts to explain, each once."""
        return list(dict.fromkeys(key for pair in self.pairs for key in _texts(pair)))

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
                for key in _texts(pair):
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


def _texts(pair: PairOfTexts) -> list[TextKey]:
    return [(pair.dialect, pair.db_id, sql) for sql in (pair.gold, pair.prediction) if sql is not None]


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
                    PairOfTexts(
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
    return Explainer(setup, [PairOfTexts(dialect, db_id, gold, sql) for dialect in setup.servers])


def _gold(golds: Golds, question: Question, dialect: EngineName) -> tuple[str | None, str | None]:
    """Return the first gold of a question, or why there is none."""
    if dialect_of(dialect) in question.by_rows:
        return None, BY_ROWS
    try:
        return golds.text(question.each(dialect_of(dialect))[0], dialect), None
    except NoGold as error:
        return None, str(error)


def keep_plans(folder: Path, texts: Callable[[Container[TextKey]], Iterable[ExplainedText]]) -> int:
    """Add plans to a run folder, each as soon as it is computed, so that an interruption loses none.

    Args:
        folder: the run folder.
        texts: explains the texts, except the known ones that it is given.

    Returns:
        The number of plans added.

    Raises:
        BadInput: another process writes the folder, it cannot be written, or its plans are damaged.
    """
    added = 0
    try:
        with ExitStack() as closing:
            closing.callback(os.close, locked(folder))
            recorder = Recorder(folder / PLANS)
            closing.callback(recorder.close)
            for text in texts(read_plans(folder)):
                recorder.add(text.to_json())
                added += 1
    except OSError as error:
        refuse(
            folder / PLANS, f"cannot be written ({error.strerror})", "free space, or check its permissions"
        )
    return added
