from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from dialects.enums import Dialect, Profile
from dialects.overrides import Override, OverrideReason, digest
from dialects.translation import Untranslatable, translate
from harness.analyses.bench import Bench
from harness.analyses.coverage import expectations, proof
from harness.analyses.coverage.answers import CoverageAnswer, DifferenceReason, OverrideState
from harness.analyses.coverage.proof import cover
from harness.data.outcomes import GoldOrigin
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import on_server
from harness.engines.base import Engine
from harness.engines.execution import Limits
from loaders.bulk_load import load
from loaders.file_census import census
from loaders.server import Server
from tests.every_engine import LOADED

UPDATE = "look at the change; if it is right: python -m benchmarks.figures, with the folder of coverage"


@pytest.mark.parametrize("target", LOADED)
def test_the_samples_translations_are_those_that_were_reviewed(target: Dialect) -> None:
    questions = load_set("sample")
    schemas = {db_id: census(questions.database(db_id).sqlite_path) for db_id in questions.db_ids}
    expected = expectations.read("sample")[target]
    folder = expectations.HOME / "sample" / target
    assert {path.stem for path in folder.iterdir()} == {key for key in expected if expected[key].sha256}
    for question in questions.questions:
        kept = folder / f"{question.key}.sql"
        try:
            text = translate(question.gold[Dialect.SQLITE], schemas[question.db_id], target).sql
        except Untranslatable:
            assert expected[question.key].sha256 is None, UPDATE
            continue
        assert kept.read_text(encoding="utf-8") == text + "\n", UPDATE
        assert expected[question.key].sha256 == digest(text), UPDATE


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


def one_gold(sample: QuestionSet, sql: str, **golds: str) -> QuestionSet:
    """The sample's first question with other golds."""
    gold = {Dialect.SQLITE: sql} | {Dialect(name): text for name, text in golds.items()}
    return replace(sample, questions=(replace(sample.questions[0], gold=gold),))


def loaded(questions: QuestionSet, server: Server, profile: Profile = Profile.FAITHFUL) -> QuestionSet:
    load([questions.database(db_id, profile) for db_id in questions.db_ids], server)
    return questions


def bench(questions: QuestionSet, server: Server) -> Bench:
    engines: dict[str, Engine] = {server.dialect: on_server(server)}
    return Bench(questions, engines, Profile.FAITHFUL, Limits(), workers=2)


def answer(questions: QuestionSet, server: Server, origin: GoldOrigin = GoldOrigin.DATASET) -> CoverageAnswer:
    [found] = cover(bench(questions, server), origin)
    return found


@pytest.mark.engine
def test_the_sample_is_as_expected(sample: QuestionSet, server: Server) -> None:
    loaded(sample, server)
    answers = list(cover(bench(sample, server)))
    assert [one.question for one in answers] == [question.key for question in sample.questions]
    before = expectations.read("sample")
    assert list(expectations.changes(answers, before, tuple(sample.by_key))) == [], UPDATE
    assert all(one.engine_seconds is not None for one in answers if one.runs)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("golds", "reason", "flags"),
    [
        (("SELECT 1", "SELECT 1"), None, (True, True, None)),
        (("SELECT 1", "SELECT 2"), DifferenceReason.DIFFERENT, (False, False, None)),
        (("SELECT 1", "SELECT 1 UNION ALL SELECT 1"), DifferenceReason.DIFFERENT, (True, False, None)),
        (
            ("SELECT 1 AS a UNION SELECT 2 ORDER BY a", "SELECT 1 AS a UNION SELECT 2 ORDER BY a DESC"),
            DifferenceReason.ORDER,
            (True, True, False),
        ),
        (("SELECT 1 AS a ORDER BY a", "SELECT 1"), None, (True, True, True)),
        (
            ("SELECT a FROM (SELECT 1 AS a, 0 AS b UNION ALL SELECT 2, 0) ORDER BY b LIMIT 1", "SELECT 2"),
            DifferenceReason.TIE,
            (False, False, True),
        ),
        (
            (
                "SELECT a FROM (SELECT 1 AS a, 0 AS b UNION ALL SELECT 2, 0) ORDER BY b",
                "SELECT 2 UNION ALL SELECT 1",
            ),
            None,
            (True, True, True),
        ),
        (("SELECT 1", "SELECT FROM WHERE"), DifferenceReason.SYNTAX, (False, False, None)),
        (("SELECT 1", "SELECT nowhere"), DifferenceReason.BAD_NAME, (False, False, None)),
        (
            ("SELECT 1", "SELECT (SELECT 1 UNION SELECT 2)"),
            DifferenceReason.SEVERAL_ROWS,
            (False, False, None),
        ),
        (("SELECT nothing", "SELECT 1"), DifferenceReason.NO_REFERENCE, (False, False, None)),
        (("SELECT date('now')", "SELECT CURRENT_DATE"), None, (True, True, None)),
        (
            ("SELECT date('now', '-1 day')", "SELECT CURRENT_DATE"),
            DifferenceReason.DIFFERENT,
            (False, False, None),
        ),
    ],
)
def test_an_answer_says_what_is_the_same_and_why_not(
    sample: QuestionSet,
    server: Server,
    golds: tuple[str, str],
    reason: DifferenceReason | None,
    flags: tuple[bool, bool, bool | None],
) -> None:
    loaded(sample, server)
    sqlite, server_sql = golds
    found = answer(one_gold(sample, sqlite, **{server.dialect: server_sql}), server)
    assert (found.reason, (found.same_set, found.same_bag, found.same_order)) == (reason, flags)
    assert found.covered is (reason in (None, DifferenceReason.TIE))
    assert found.origin is GoldOrigin.DATASET
    assert found.sql == server_sql
    assert bool(found.only_sqlite or found.only_engine) is (found.runs and not found.same_bag)


@pytest.mark.engine
def test_a_dialect_without_a_published_gold_has_no_answer(sample: QuestionSet, server: Server) -> None:
    loaded(sample, server)
    assert list(cover(bench(one_gold(sample, "SELECT 1"), server), GoldOrigin.DATASET)) == []


@pytest.mark.engine
def test_what_cannot_be_translated_is_said_so(sample: QuestionSet, server: Server) -> None:
    loaded(sample, server)
    found = answer(one_gold(sample, "SELECT nothing FROM nowhere"), server, GoldOrigin.TRANSLATED)
    assert (found.reason, found.sql, found.covered) == (DifferenceReason.UNTRANSLATABLE, None, False)
    assert found.detail


@pytest.mark.engine
@pytest.mark.parametrize(
    ("golds", "state"),
    [
        (("SELECT nothing FROM nowhere", "SELECT nothing FROM nowhere"), OverrideState.NEEDED),
        (("SELECT COUNT(*) FROM Books", "SELECT COUNT(*) FROM Books"), OverrideState.UNNEEDED),
        (("SELECT COUNT(*) FROM Books", "SELECT other"), OverrideState.STALE),
    ],
)
def test_an_override_is_needed_stale_or_unneeded(
    sample: QuestionSet,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    golds: tuple[str, str],
    state: OverrideState,
) -> None:
    loaded(sample, server)
    gold, replaced = golds
    questions = one_gold(sample, gold)
    key = questions.questions[0].key
    override = Override(
        key, server.dialect, digest(replaced), OverrideReason.UNTRANSLATABLE, "a note", "SELECT 1"
    )

    def only_one(question_set: str, target: Dialect, own: Path | None) -> Mapping[str, Override]:
        assert own is None
        assert (question_set, target) == ("sample", server.dialect)
        return {key: override}

    monkeypatch.setattr(proof, "overrides", only_one)
    found = answer(questions, server, GoldOrigin.TRANSLATED)
    assert (found.override, found.origin, found.sql) == (state, GoldOrigin.OVERRIDE, "SELECT 1")


@pytest.mark.bird
@pytest.mark.engine
@pytest.mark.thorough
@pytest.mark.parametrize("name", ["mini_dev", "mini_dev_2025"])
def test_every_gold_of_mini_dev_runs_and_nearly_all_return_sqlites_rows(
    bird_home: Path, name: str, server: Server
) -> None:
    """Of the later revision, those that are not in the first one too."""
    questions = everything = loaded(load_set(name, bird_home), server)
    if name != "mini_dev":
        before = {(each.db_id, *each.gold.items()) for each in load_set("mini_dev", bird_home).questions}
        new = [each for each in questions.questions if (each.db_id, *each.gold.items()) not in before]
        questions = replace(questions, questions=tuple(new))
    answers = list(cover(bench(questions, server)))
    assert len(answers) == len(questions.questions) >= 5
    assert [one.question for one in answers if not one.runs] == []
    assert sum(one.same_bag or one.covered for one in answers) >= 0.99 * len(answers)
    assert list(expectations.changes(answers, expectations.read(name), tuple(everything.by_key))) == []
    assert {one.reason for one in answers} <= {None, DifferenceReason.TIE, DifferenceReason.UNSPECIFIED}
