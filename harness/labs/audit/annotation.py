"""Blind double annotation: golds that two people have written for the same questions, run and compared.

Two sides agree on a question if a gold of one returns the rows of a gold of the other, as EX compares them,
or if both leave the question out. With a search for witnesses, they also must not differ on a small database.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.volatility import is_volatile
from harness.analyses.bench import Bench
from harness.data.gold_packs import PUBLISHED, read_pack
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.data.witnesses import Witness, save
from harness.engines.execution import Ending
from harness.labs.audit.command import LIMITS, AuditRequest, opened, runner
from harness.labs.audit.gold import Evidence
from harness.metrics.comparison import compare
from harness.scoring.chance.equal import is_equal_to_a_gold
from harness.scoring.chance.search import PairToRefute
from harness.scoring.chance.shape import of_file
from harness.scoring.chance.witness import ExecutionPlace, find, place_of
from harness.scoring.ties import Run
from loaders.bulk_load import Progress
from loaders.server import Server


@dataclass(frozen=True)
class Annotation:
    """One side's annotation of one question: its golds, each equally valid; none where it is left out."""

    golds: tuple[str, ...]


Side = Mapping[tuple[str, Dialect], Annotation]
"""The annotations of one side, by question key and dialect."""


@dataclass(frozen=True)
class Disagreement:
    """A question on which two sides do not agree.

    `evidence` has rows of both, those first that differ; `witness` is the file of a small database on which
    they differ, and `difference` says why they do there.
    """

    question: str
    db_id: str
    dialect: Dialect
    says: str
    evidence: tuple[Evidence, ...] = ()
    witness: str | None = None
    difference: str | None = None


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
    witnesses: Path | None = None,
) -> Compared:
    """Run what both sides say of the same questions, and list what they do not agree on.

    With `published` only the questions of the other side are compared; of two packs all of both. If
    `witnesses` names a folder, a small database is searched for each question on which golds differ, and
    written there.

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
    found = []
    with ExitStack() as stack:
        standing = {
            dialect: stack.enter_context(place_of(dialect, there.get(dialect), LIMITS))
            for dialect in (dict.fromkeys(dialect for _, dialect in keys) if witnesses is not None else ())
        }
        for key, dialect in keys:
            question = questions.by_key[key]
            both = dict(zip(sides, (left.get((key, dialect)), right.get((key, dialect))), strict=True))
            one = _disagreement(bench, question, dialect, both)
            if witnesses is not None and all(side is not None and side.golds for side in both.values()):
                golds = [side.golds for side in both.values() if side is not None]
                witness = _witness(bench, question, standing[dialect], dialect, golds)
                if witness is not None:
                    file = witnesses / f"{quote(key, safe='', errors='replace')}-{dialect}.json"
                    save(witness, file)
                    same = Disagreement(key, question.db_id, dialect, "The golds return the same rows today.")
                    one = _with_witness(one or same, sides, witness, file)
            found.append(one)
    return Compared(sides, len(keys), [one for one in found if one is not None])


def _witness(
    bench: Bench,
    question: Question,
    place: ExecutionPlace,
    dialect: Dialect,
    sides: Sequence[Sequence[str]],
) -> Witness | None:
    """Return a database on which the first gold of one side differs from each of the other's.

    None if none was found for one of the side's golds: it may equal one of the other's.
    """
    ours, theirs = sides
    database = bench.database(question.db_id)
    shape = of_file(database.sqlite_path)
    found = []
    for sql in ours:
        pair = PairToRefute(sql, theirs, dialect)
        if any(map(is_volatile, (sql, *theirs))) or not pair.trees or is_equal_to_a_gold(shape, pair):
            return None
        found.append(find(shape, pair, place, database.profile))
    return None if None in found else found[0]


def _with_witness(one: Disagreement, sides: tuple[str, str], witness: Witness, file: Path) -> Disagreement:
    """Add a witness, with its rows and those that both sides return on it."""
    evidence = [
        Evidence.of(f"witness: {', '.join(each.columns)} of {each.name}", each.rows)
        for each in witness.relevant_tables
    ]
    if witness.preview is not None:
        for name, side in zip(sides, (witness.preview.predicted, witness.preview.gold), strict=True):
            evidence.append(Evidence.of(f"{name} on the witness", side.rows if side else ()))
    return replace(
        one,
        says=f"{one.says} They differ on {file}, by {witness.difference}.",
        evidence=(*one.evidence, *evidence),
        witness=str(file),
        difference=witness.difference,
    )


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
