"""Blind double annotation: golds that two people have written for the same questions, run and compared.

Two sides agree on a question if a gold of one returns the rows of a gold of the other, as EX compares them,
or if both leave the question out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.audit.command import AuditRequest, opened, runner
from harness.analyses.audit.gold import Evidence
from harness.analyses.bench import Bench
from harness.data.gold_packs import PUBLISHED, read_pack
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.engines.execution import Ending
from harness.metrics.comparison import compare
from harness.scoring.ties import Run
from loaders.load import Progress
from loaders.server import Server


@dataclass(frozen=True)
class Annotation:
    """One side's annotation of one question: its golds, each equally valid; none where it is left out."""

    golds: tuple[str, ...]


Side = Mapping[tuple[str, Dialect], Annotation]
"""The annotations of one side, by question key and dialect."""


@dataclass(frozen=True)
class Disagreement:
    """A question on which two sides do not agree; `evidence` has rows of both, those first that differ."""

    question: str
    db_id: str
    dialect: Dialect
    says: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Compared:
    """Two sides by their names, how many questions were compared, and what they do not agree on."""

    sides: tuple[str, str]
    compared: int
    disagreements: Sequence[Disagreement]


def annotations(name: str, questions: QuestionSet) -> Side:
    """Return the annotations of a pack, or of the set itself if the name is `published`.

    Raises:
        BadInput: the pack cannot be read, or is for other questions.
    """
    if name == PUBLISHED:
        return {
            (question.key, dialect): Annotation((sql,))
            for question in questions.questions
            for dialect, sql in question.gold.items()
        }
    pack = read_pack(Path(name))
    if pack.of_set is not None and pack.of_set != questions.name:
        raise BadInput(f"{pack.path}: is a pack for {pack.of_set}, not for {questions.name}")
    return {
        (questions.key_of(entry.question), entry.dialect): Annotation(entry.golds) for entry in pack.entries
    }


def compare_annotations(
    request: AuditRequest,
    sides: tuple[str, str],
    servers: Mapping[Dialect, Server] | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Run what both sides say of the same questions, and list what they do not agree on.

    With `published` only the questions of the other side are compared; of two packs all of both.

    Raises:
        BadInput: a file is wrong, or there is nothing to compare in these dialects.
        EngineUnavailable: a server broke.
    """
    questions = load_set(request.set_name)
    there = {dialect: server for dialect in request.dialects if (server := (servers or {}).get(dialect))}
    bench = opened(questions, there, request.workers, progress)
    if sides[0] == sides[1]:
        raise BadInput(f"--against {sides[1]}: is the same pack; name another")
    left, right = (annotations(name, questions) for name in sides)
    wanted = left.keys() & right.keys() if PUBLISHED in sides else left.keys() | right.keys()
    places = {question.key: at for at, question in enumerate(questions.questions)}
    keys = sorted(
        ((key, dialect) for key, dialect in wanted if dialect in bench.engines),
        key=lambda one: (places[one[0]], one[1]),
    )
    if not keys:
        raise BadInput(f"--against {sides[1]}: has no question for {', '.join(request.dialects)} in common")
    found = [
        _disagreement(
            bench,
            questions.by_key[key],
            dialect,
            dict(zip(sides, (left.get((key, dialect)), right.get((key, dialect))), strict=True)),
        )
        for key, dialect in keys
    ]
    return Compared(sides, len(keys), [one for one in found if one is not None])


def _disagreement(
    bench: Bench, question: Question, dialect: Dialect, sides: Mapping[str, Annotation | None]
) -> Disagreement | None:
    """Describe where two sides, given by name, disagree; None where they agree."""
    says: str | None = None
    evidence: tuple[Evidence, ...] = ()
    if None in sides.values():
        says = f"{next(name for name, one in sides.items() if one is None)} has not looked at the question."
    else:
        golds = {name: one.golds for name, one in sides.items() if one is not None}
        without = [name for name, texts in golds.items() if not texts]
        if len(without) == 1:
            says = f"{without[0]} leaves the question out, and the other has a gold."
        elif not without:
            says, evidence = _differing(runner(bench, question, dialect), golds)
    return None if says is None else Disagreement(question.key, question.db_id, dialect, says, evidence)


def _differing(run: Run, golds: Mapping[str, Sequence[str]]) -> tuple[str | None, tuple[Evidence, ...]]:
    """Describe how the golds of two sides differ, with rows of both; None if one of each return the same."""
    (ours, theirs), names = [[run(sql) for sql in texts] for texts in golds.values()], list(golds)
    for name, some in zip(names, (ours, theirs), strict=True):
        for one in some:
            if one.ending is not Ending.ROWS:
                return f"A gold of {name} returns no rows: {one.error or one.ending}.", ()
    if any(compare(one.rows, other.rows).same_set for one in ours for other in theirs):
        return None, ()
    differing = compare(ours[0].rows, theirs[0].rows)
    return "The golds return other rows.", (
        Evidence.of(f"{names[0]}: {len(ours[0].rows)} rows", differing.only_left or ours[0].rows),
        Evidence.of(f"{names[1]}: {len(theirs[0].rows)} rows", differing.only_right or theirs[0].rows),
    )


def lines_of(compared: Compared) -> list[str]:
    """Describe the disagreements of two sides, a few lines for each question."""
    lines = []
    for one in compared.disagreements:
        lines.append(f"{one.dialect} {one.question} ({one.db_id}): {one.says}")
        for evidence in one.evidence:
            lines += [f"  {evidence.title}", *(f"    {', '.join(row)}" for row in evidence.rows)]
    agreed = compared.compared - len(compared.disagreements)
    return [*lines, f"{' and '.join(compared.sides)} agree on {agreed} of {compared.compared} questions."]
