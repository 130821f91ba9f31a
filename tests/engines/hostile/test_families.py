"""Every family of hostile predictions in one run beside honest ones, through the command line.

All files are scored once on each engine. On one engine they have rows whose hashes collide as well, which are
the same to Python whichever engine they come from, and every text that is aimed at the process that asks, of
which the others have some. There, those that take no time are scored again with what a store knows, resumed
in the middle and as pytest items: it is the process that asks, the store and the reports that meet them.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest

from dialects.enums import Dialect
from harness.data.outcomes import Outcome, PairResult
from harness.data.sets.loader import load_set
from harness.runs.reader import LATEST, RESULTS, SUMMARY, read_results
from loaders.bulk_load import load
from loaders.sample import PREDICTIONS
from loaders.server import Server
from tests.engines.hostile.families import FAMILIES, Family
from tests.engines.hostile.running import (
    SECONDS,
    Done,
    Place,
    Placed,
    allowed,
    crowd,
    faults,
    junit,
    spread,
    strange,
    write_lines,
)

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

QUESTIONS = 24
CROWDED = ("5", "6")
MOST_MEGABYTES = 450
"""What the process that asks may take: up to 62 MB of predictions and as much of results, read back for the
reports, beside what a worker is being sent."""
MOST_OF_AN_ERROR = 2_100
"""Characters."""
HONEST = ("careless", "every-fifth-wrong")

ONE = Dialect.POSTGRESQL
"""Where they are scored again: outcomes are what the store or the run folder says they are, then.

Its errors and values are the strangest. It is the first, as it is in those tests: pytest shares by the place.
"""
ON_ONE = pytest.mark.parametrize("arranged", [ONE], indirect=True, scope="module")

SLOW = (Family.COLLISIONS, Family.CROWD)
"""What workers meet, and what takes them to their limits."""

Facts = Mapping[tuple[str, str], tuple[object, ...]]


@dataclass(frozen=True)
class Arranged:
    """A place with prediction files: honest ones `alone`, `beside` all hostile ones, beside `quick` ones."""

    dialect: Dialect
    place: Place
    placed: Mapping[Family, Sequence[Placed]]

    @property
    def options(self) -> list[str]:
        return [f"--dialect={self.dialect}", f"--timeout={SECONDS}", "--workers=2", "--allow-missing"]

    def eval(self, name: str, *options: str) -> Done:
        """Score the files of the folder `name` into `results-<name>`."""
        return self.place.harness(
            "eval", f"--predictions={name}", f"--out=results-{name}", f"--limit={QUESTIONS}", *self.options,
            *options,
        )  # fmt: skip

    def results(self, name: str) -> list[PairResult]:
        return read_results(self.place.folder / f"results-{name}" / LATEST)


@dataclass(frozen=True)
class Cold:
    """The first run, and the same predictions without the hostile ones."""

    arranged: Arranged
    done: Done
    alone: Facts
    results: Sequence[PairResult]


def facts(results: Sequence[PairResult], *, honest: bool) -> Facts:
    """By predictor and question, all that does not depend on time."""
    return {
        (each.predictor, each.question): (each.outcome, each.scores, each.error, each.code, each.error_class)
        for each in results
        if (each.predictor in HONEST) == honest and each.outcome is not Outcome.MISSING
    }


def _every(family: Family, dialect: Dialect) -> int:
    """The step in which the texts of a family are taken: most are the same on all engines."""
    return 1 if dialect is ONE or family is not Family.PARENT else 4


@pytest.fixture(scope="module", params=[ONE, *(each for each in FAMILIES[Family.CROWD] if each is not ONE)])
def arranged(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Arranged:
    dialect: Dialect = request.param
    questions = load_set("sample").limit(QUESTIONS)
    servers: list[Server] = []
    if dialect is not Dialect.SQLITE:
        servers = [request.getfixturevalue(f"{dialect}_server")]
        load([questions.database(db_id) for db_id in questions.db_ids], servers[0])
    folder = tmp_path_factory.mktemp(f"runs_{dialect}")
    for name in ("alone", "beside", "quick"):
        (folder / name).mkdir()
        for predictor in HONEST:
            file = f"predict_sample_{predictor}_{dialect}.json"
            shutil.copy(PREDICTIONS / file, folder / name / file)
    keys = [question.key for question in questions.questions]
    placed = {
        family: crowd(cases[dialect], CROWDED, "crowd")
        if family is Family.CROWD
        else spread(cases[dialect][:: _every(family, dialect)], keys, family.name.lower())
        for family, cases in FAMILIES.items()
        if dialect is ONE or family is not Family.COLLISIONS
    }
    golds = {question.key: question.gold[dialect] for question in questions.questions}
    for family, some in placed.items():
        for name in ("beside",) if family in SLOW else ("beside", "quick"):
            write_lines(folder / name / f"{family.name.lower()}.jsonl", dialect, some, golds)
    return Arranged(dialect, Place(folder, servers), placed)


@pytest.fixture(scope="module")
def cold(arranged: Arranged) -> Cold:
    alone = arranged.eval("alone", "--no-cache")
    assert alone.code == 0, alone.said[-3000:]
    done = arranged.eval("beside")
    assert done.code == 0, done.said[-3000:]
    return Cold(arranged, done, facts(arranged.results("alone"), honest=True), arranged.results("beside"))


def test_every_case_has_an_outcome_of_its_own_that_it_may_have(cold: Cold) -> None:
    found = {(each.predictor, each.question): each for each in cold.results}
    assert all(len(placed) >= 10 for placed in cold.arranged.placed.values())
    assert {
        each.case.name: (result.outcome, (result.error or "")[:200])
        for placed in cold.arranged.placed.values()
        for each in placed
        if (result := found[each.predictor, each.question]).outcome not in allowed(each.case)
    } == {}


def test_honest_neighbours_come_to_the_same_as_alone(cold: Cold) -> None:
    assert len(cold.alone) == len(HONEST) * QUESTIONS
    assert facts(cold.results, honest=True) == cold.alone


def test_the_process_that_asks_stays_small_and_leaves_nobody_behind(cold: Cold) -> None:
    assert 0 < cold.done.megabytes < MOST_MEGABYTES
    assert cold.done.left == []


def test_no_error_is_longer_than_a_reader_reads(cold: Cold) -> None:
    lengths = {(each.predictor, each.question): len(each.error or "") for each in cold.results}
    assert {which: length for which, length in lengths.items() if length > MOST_OF_AN_ERROR} == {}


def test_reports_are_well_formed_and_the_terminal_is_left_alone(cold: Cold) -> None:
    assert faults(cold.arranged.place.folder / "results-beside" / LATEST) == []
    assert strange(cold.done.said) == []


@ON_ONE
def test_reports_are_made_again_from_the_folder(cold: Cold) -> None:
    run, to = "results-beside/latest", cold.arranged.place.folder / "again"
    to.mkdir()
    done = cold.arranged.place.harness("report", run, "--by=error-class", f"--out={to}")
    assert done.code == 0, done.said[-3000:]
    assert faults(to) == []
    assert strange(done.said) == []
    assert 0 < done.megabytes < MOST_MEGABYTES


@pytest.fixture(scope="module")
def quick(cold: Cold) -> Cold:
    """The run of what takes no time, with what the first run has left in the store."""
    done = cold.arranged.eval("quick")
    assert done.code == 0, done.said[-3000:]
    return Cold(cold.arranged, done, cold.alone, cold.arranged.results("quick"))


@ON_ONE
def test_with_what_the_store_knows_every_outcome_is_the_same(cold: Cold, quick: Cold) -> None:
    assert quick.done.megabytes < MOST_MEGABYTES
    assert quick.done.left == []
    assert facts(quick.results, honest=True) == cold.alone
    before = decided(cold.results)
    assert decided(quick.results) == {which: before[which] for which in decided(quick.results)}


def decided(results: Sequence[PairResult]) -> Mapping[tuple[str, str], object]:
    """Hostile predictions' outcomes, but for how one is stopped: that depends on the machine's load."""
    ran = (Outcome.MATCH, Outcome.MISMATCH)
    return {
        (each.predictor, each.question): each.outcome if each.outcome in ran else "stopped"
        for each in results
        if each.outcome is not Outcome.MISSING and each.predictor.startswith(("errors", "values"))
    }


@ON_ONE
def test_a_run_that_was_broken_off_is_resumed_to_the_same(quick: Cold) -> None:
    place = quick.arranged.place
    folder = (place.folder / "results-quick" / LATEST).resolve()
    broken = folder.with_name("broken")
    shutil.copytree(folder, broken)
    lines = (broken / RESULTS).read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    (broken / RESULTS).write_bytes(b"".join(lines[:half]) + lines[half][:-9])
    (broken / SUMMARY).unlink()
    done = quick.arranged.eval("quick", f"--resume={broken}")
    assert done.code == 0, done.said[-3000:]
    assert done.left == []
    found = read_results(broken)
    assert len(found) == len(lines)
    assert facts(found, honest=True) == quick.alone
    assert decided(found) == decided(quick.results)
    assert faults(broken) == []


@ON_ONE
def test_as_pytest_items_with_a_report_in_xml(quick: Cold) -> None:
    place = quick.arranged.place
    done = place.pytest(
        "--bird-predictions=quick", f"--bird-dialect={quick.arranged.dialect}", f"--bird-limit={QUESTIONS}",
        f"--bird-timeout={SECONDS}", "--bird-workers=2", "--bird-allow-missing", "--bird-out=items",
        "--junitxml=junit.xml",
    )  # fmt: skip
    assert done.code == 0, done.said[-3000:]
    assert done.left == []
    assert strange(done.said) == []
    cases = list(junit(place.folder / "junit.xml").iter("testcase"))
    found = read_results(place.folder / "items" / LATEST)
    assert len(cases) == len(found)
    assert facts(found, honest=True) == quick.alone
    assert faults(place.folder / "items" / LATEST) == []
