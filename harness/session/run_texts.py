"""Texts of a run that are run again: pairs of a gold and a prediction, on engines that are up."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from dialects.enums import Profile
from dialects.errors import BadInput
from harness.data.outcomes import Outcome, PairResult
from harness.data.questions import Question
from harness.data.sets.loader import load_set
from harness.engines import EngineName, dialect_of, in_order
from harness.metrics.efficiency import same_text
from harness.runs.reader import Run, key_of, read_previews, read_questions, require_questions, select
from harness.scoring.tasks import Setup
from harness.session.plan import equip
from harness.session.request import Request
from loaders.base.errors import brief
from loaders.bulk_load import Progress

Text = TypeVar("Text")


@dataclass(frozen=True)
class TextPair(Generic[Text]):
    """A gold and a prediction; None if there is no text, with the reason.

    `name` is the predictor, `question` the key of its question; both are empty for a user's own texts.
    """

    dialect: EngineName
    db_id: str
    gold: Text | None
    prediction: Text | None
    name: str = ""
    question: str = ""
    without_gold: str | None = None
    without_prediction: str | None = None


PairOfTexts = TextPair[str]


BY_ROWS = "the reference is the rows of SQLite's gold; there is no gold text for this engine"


def pairs_of_run(
    operand: str, request: Request, *, say: Callable[[str], None], progress: Progress | None = None
) -> tuple[Setup, list[PairOfTexts]]:
    """Return the pairs of a run, or of a part of it, for selected questions, with the run's own texts.

    Their engines are up, and have the databases loaded: they are those of the setup.

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
            PairOfTexts(
                one.dialect, one.db_id, gold, one.sql, one.predictor, one.question,
                without, None if one.sql is not None else one.error or "there is no prediction",
            )
        )  # fmt: skip
    return setup, pairs


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
        return None, BY_ROWS
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
