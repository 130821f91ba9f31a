"""The library call: the same core for threads, processes and later runs."""

import asyncio
import multiprocessing
import os
import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness import Answer, Evaluator, Triple
from harness.data.outcomes import Outcome
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines.base import EMPTY
from harness.engines.errors import ErrorClass
from harness.engines.execution import Ending
from loaders.server import Server
from tests.every_engine import LOADED
from tests.harness.hostile_texts import CROSS_JOIN, HOSTILE
from tests.harness.pytest_plugin.running import name

README = Path(__file__).parents[3] / "README.md"


@pytest.fixture(scope="module")
def sample() -> QuestionSet:
    return load_set("sample")


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIRD_STORE", str(tmp_path / "store.sqlite"))


def golds(sample: QuestionSet, count: int) -> list[Answer]:
    return [Answer(item.key, item.gold[Dialect.SQLITE]) for item in sample.questions[:count]]


@pytest.mark.slow
def test_answers_are_scored_in_their_order(sample: QuestionSet) -> None:
    [first, second, *_] = golds(sample, 2)
    with Evaluator("sample", workers=1) as evaluator:
        judgements = evaluator.score(
            [first, Answer(first.question, "SELECT 1"), second, Answer(second.question, "SELEC")]
        )
    assert [judgement.outcome for judgement in judgements] == [
        Outcome.MATCH, Outcome.MISMATCH, Outcome.MATCH, Outcome.PREDICTION_ERROR,
    ]  # fmt: skip
    assert [judgement.scores["ex"] for judgement in judgements] == [1.0, 0.0, 1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize(("diagnose", "expected"), [(False, None), (True, ErrorClass.SYNTAX)])
def test_what_is_wrong_is_found_out_if_it_is_asked_for(
    sample: QuestionSet, expected: ErrorClass | None, *, diagnose: bool
) -> None:
    [first] = golds(sample, 1)
    with Evaluator("sample", workers=1, diagnose=diagnose) as evaluator:
        [judgement] = evaluator.score([Answer(first.question, "SELEC")])
    assert (judgement.outcome, judgement.error_class) == (Outcome.PREDICTION_ERROR, expected)


@pytest.mark.slow
def test_threads_share_one_evaluator(sample: QuestionSet) -> None:
    answers = golds(sample, 10)
    with Evaluator("sample", workers=2) as evaluator, ThreadPoolExecutor(8) as pool:
        scored = list(pool.map(evaluator.score, [answers] * 8))
    assert all(judgement.outcome is Outcome.MATCH for judgements in scored for judgement in judgements)
    # What was executed once has one time of execution.
    assert len({tuple(judgement.gold_seconds for judgement in judgements) for judgements in scored}) == 1


@pytest.mark.slow
def test_what_an_earlier_evaluator_knew_is_not_executed_again_unless_asked_to(sample: QuestionSet) -> None:
    answers = golds(sample, 3)

    def seconds(*, cache: bool) -> list[float | None]:
        with Evaluator("sample", workers=1, cache=cache) as evaluator:
            return [judgement.gold_seconds for judgement in evaluator.score(answers)]

    first = seconds(cache=True)
    assert seconds(cache=True) == first
    assert seconds(cache=False) != first


def _score_in_another_process(evaluator: Evaluator, answers: list[Answer]) -> tuple[int, list[Outcome]]:
    return os.getpid(), [judgement.outcome for judgement in evaluator.score(answers)]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_evaluator_goes_on_in_another_process(sample: QuestionSet, method: str) -> None:
    answers = golds(sample, 2)
    with Evaluator("sample", workers=1) as evaluator:
        assert len(evaluator.score(answers)) == 2
        with multiprocessing.get_context(method).Pool(1) as pool:
            there, outcomes = pool.apply(_score_in_another_process, [evaluator, answers])
        assert (there != os.getpid(), outcomes) == (True, [Outcome.MATCH] * 2)
        assert [each.outcome for each in evaluator.score(answers)] == [Outcome.MATCH] * 2


@pytest.mark.slow
def test_an_evaluator_can_be_sent(sample: QuestionSet) -> None:
    with Evaluator("sample", workers=1) as evaluator:
        sent = pickle.loads(pickle.dumps(evaluator))  # noqa: S301 - its own
        with sent:
            assert [each.outcome for each in sent.score(golds(sample, 1))] == [Outcome.MATCH]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Answer("no such", "SELECT 1"), ["no such", "sample", "66 questions"]),
        (Answer(10**6, "SELECT 1"), ["1000000", "sample", "66 questions"]),
        (Answer(10**5000, "SELECT 1"), ["a number of thousands of digits", "sample"]),
        (Answer("1", "SELECT 1", "oracle"), ["dialect 'oracle'", "sqlite, mysql, postgresql"]),
        (
            Answer("1", None),  # type: ignore[arg-type]
            ["question 1: the answer is None; give the SQL text, or '' if there is none"],
        ),
        (Answer("1", ["SELECT 1"]), ["question 1: the answer is of type list, not text; give the SQL"]),
        (Answer("1", b"SELECT 1"), ["question 1: the answer is of type bytes, not text; give"]),  # type: ignore[arg-type]
        (Answer("1", "SELECT '\ud83d'"), ["question 1", "UTF-8"]),
        (Answer("1", "SELECT 1", Dialect.MYSQL), ["mysql", "sqlite", "dialects"]),
    ],
)
def test_an_answer_that_is_for_nobody_is_refused(answer: Answer, says: list[str]) -> None:
    with Evaluator("sample", workers=1) as evaluator, pytest.raises(BadInput) as refused:
        evaluator.score([answer])
    assert all(word in str(refused.value) for word in says)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dialects": "oracle"}, "dialects 'oracle': choose from sqlite, mysql, postgresql"),
        ({"dialects": ["sqlite", "p"]}, "dialects 'p': choose from"),
        ({"dialects": []}, "dialects: none given"),
        ({"metrics": "bleu"}, "'bleu' is not a metric"),
        ({"profile": "fast"}, "profile 'fast': choose from official, faithful"),
        ({"set_name": "nowhere"}, "choose one of"),
        *(
            ({"seconds": value}, "seconds ")
            for value in (0, -1, float("nan"), float("inf"), 1e300, "30", True)
        ),
        *(({"workers": value}, "workers ") for value in (0, -1, 10**9, 1.5, "2")),
    ],
)
def test_an_option_that_cannot_be_is_bad_input(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        Evaluator(**{"set_name": "sample", **options})
    assert says in str(refused.value)
    assert str(refused.value).isprintable()


@pytest.mark.slow
def test_questions_are_named_by_number_or_key_and_the_only_dialect_by_nothing(sample: QuestionSet) -> None:
    [first, *_] = sample.questions
    gold = first.gold[Dialect.SQLITE]
    named = [
        Answer(first.question_id, gold),
        Answer(first.key, gold, "sqlite"),
        Answer(f"{first.key}#1", gold),
    ]
    with Evaluator("sample", dialects="sqlite", metrics="ex", workers=1) as evaluator:
        assert [each.scores for each in evaluator.score(named)] == [{"ex": 1.0}] * 3


@pytest.mark.slow
def test_of_questions_that_share_an_id_a_number_is_refused_and_a_key_is_told(
    tmp_path: Path, first: QuestionSet, caplog: pytest.LogCaptureFixture
) -> None:
    assert first.keys_of(137) == ("137", "137#2")
    with Evaluator("mini_dev", bird_home=str(tmp_path), workers=1, cache=False) as evaluator:
        with pytest.raises(BadInput, match=r'question 137: .*2 questions share; write "137#1" or "137#2"'):
            evaluator.score([Answer(137, "SELECT 2")])
        exact = [Answer("137#1", "SELECT 2"), Answer("137#2", "SELECT 3")]
        assert [each.outcome for each in evaluator.score(exact)] == [Outcome.MATCH] * 2
        assert caplog.messages == []
        assert [each.outcome for each in evaluator.score([Answer("137", "SELECT 2")] * 2)] == [
            Outcome.MATCH
        ] * 2
        assert ["'137#1'" in each for each in caplog.messages] == [True]


@pytest.mark.parametrize("server", [Dialect.MYSQL], indirect=True)
@pytest.mark.engine
def test_the_only_dialect_is_that_of_answers_and_of_several_one_has_to_be_named(
    sample: QuestionSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    [first, *_] = sample.questions
    with Evaluator("sample", dialects=str(server.dialect), workers=1) as evaluator:
        [judgement] = evaluator.score([Answer(first.question_id, first.gold[server.dialect])])
        assert judgement.outcome is Outcome.MATCH
    with Evaluator("sample", dialects=f"sqlite,{server.dialect}", workers=1) as evaluator:
        with pytest.raises(BadInput, match=f"no dialect given; choose from sqlite, {server.dialect}"):
            evaluator.score([Answer(first.key, "SELECT 1")])
        both = [Answer(first.key, first.gold[each], each) for each in (Dialect.SQLITE, server.dialect)]
        assert [each.outcome for each in evaluator.score(both)] == [Outcome.MATCH] * 2


@pytest.mark.slow
def test_a_text_is_executed_for_its_first_rows_whatever_it_is() -> None:
    with Evaluator("sample", workers=1, seconds=0.5) as evaluator:
        run = partial(evaluator.execute, "city_library", rows=3, max_bytes=40)
        assert {text: run(text).ending for text in HOSTILE} == HOSTILE
        first = evaluator.execute("city_library", CROSS_JOIN, rows=3)
        assert (len(first.rows), first.error) == (3, "more than 3 rows")
        assert [len(run(text).rows) for text in (CROSS_JOIN, "SELECT 1", "SELEC")] == [1, 1, 0]
        with pytest.raises(BadInput, match="not in sample"):
            evaluator.execute("../city_library", "SELECT 1")
        with pytest.raises(BadInput, match="UTF-8"):
            run("SELECT '\ud83d'")
    with pytest.raises(BadInput, match="closed"):
        run("SELECT 1")


@pytest.mark.parametrize("server", LOADED, indirect=True)
@pytest.mark.engine
def test_what_is_executed_on_a_server_only_reads(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    name(server, monkeypatch)
    tables = "books a, books b, books c, books d, books e, books f, books g, books h"
    endless = f"SELECT max(concat(a.title, b.title, c.title, d.title, e.title, h.title)) FROM {tables}"
    with Evaluator("sample", dialects=str(server.dialect), workers=1, seconds=1) as evaluator:
        texts = (
            "SELECT a.* FROM books a, books b",
            endless,
            "DELETE FROM books",
            "SELECT count(*) FROM books",
        )
        found = [evaluator.execute("city_library", each, rows=3) for each in texts]
    assert [each.ending for each in found] == [Ending.TOO_LARGE, Ending.TIMEOUT, Ending.ERROR, Ending.ROWS]
    assert [len(each.rows) for each in found] == [3, 0, 0, 1]
    assert found[-1].rows > ((10,),)
    assert [name.casefold() for name in found[0].columns[:2]] == ["bookid", "title"]
    assert [each.columns for each in found[1:3]] == [(), ()]


@pytest.mark.parametrize("server", LOADED, indirect=True)
@pytest.mark.engine
def test_columns_have_the_names_that_an_engine_gives_them(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    text = "SELECT 1 AS one, 2 AS two FROM books WHERE 1 = {}"
    with Evaluator("sample", dialects=str(server.dialect), workers=1, seconds=5) as evaluator:
        found = [evaluator.execute("city_library", text.format(each), rows=1).columns for each in (1, 0)]
    assert found == [("one", "two")] * 2


EMPTY_TEXTS = ["", " \n\t", ";", " ; ;\n", "-- no answer", "/* a */", "/* a **/ ; -- b\n;", "-- a\n\n-- b\n"]


@pytest.mark.slow
def test_of_an_empty_text_it_is_said_that_it_is_empty(sample: QuestionSet) -> None:
    [first, *_] = sample.questions
    with Evaluator("sample", workers=1) as evaluator:
        judgements = evaluator.score([Answer(first.key, text) for text in EMPTY_TEXTS])
    # SQLite runs such a text, which returns no rows: what the official script compares with gold's.
    assert {(each.outcome, each.error) for each in judgements} == {(Outcome.MISMATCH, EMPTY)}


@pytest.mark.engine
def test_of_an_empty_text_it_is_said_that_it_is_empty_on_a_server(
    sample: QuestionSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    nested = (
        ["/* a /* b */ */", "/* a /* b */ ; */ ;"] if server.dialect is Dialect.POSTGRESQL else ["# a\n;"]
    )
    with Evaluator("sample", dialects=server.dialect, workers=1, cache=False) as evaluator:
        answers = [Answer(sample.questions[0].key, text) for text in (*EMPTY_TEXTS, *nested)]
        judgements = evaluator.score(answers)
    assert {each.scores["ex"] for each in judgements} == {0.0}
    said = [(answer.sql, each.error) for answer, each in zip(answers, judgements, strict=True)]
    assert [one for one in said if one[1] is None or "empty" not in one[1]] == []


def test_times_are_not_for_the_library() -> None:
    with pytest.raises(BadInput, match="r_ves_stable"):
        Evaluator("sample", metrics=["ex", "r_ves_stable"])


def test_a_closed_evaluator_says_so(sample: QuestionSet) -> None:
    evaluator = Evaluator("sample", workers=1)
    evaluator.close()
    with pytest.raises(BadInput, match="closed"):
        evaluator.score(golds(sample, 1))


@pytest.mark.slow
def test_the_example_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    [example] = [text for text in examples if "Evaluator" in text]
    exec(compile(example, str(README), "exec"), {})  # noqa: S102 - our own text
    assert capsys.readouterr().out == "mismatch 0.0\n"


SLOW = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c WHERE x < {}"
"""Runs until it is stopped."""


@pytest.mark.slow
def test_a_triple_is_judged_as_an_answer_with_the_same_gold(sample: QuestionSet) -> None:
    [question, *_] = sample.questions
    gold = question.gold[Dialect.SQLITE]
    texts = [gold, "SELECT 1", "SELEC"]
    with Evaluator("sample", workers=1) as evaluator:
        answers = evaluator.score([Answer(question.key, text) for text in texts])
        triples = evaluator.score([Triple(question.db_id, gold, text) for text in texts])
        [broken] = evaluator.score([Triple(question.db_id, "SELEC", gold)])
        assert triples == answers
        assert evaluator.statistics.cached == 3, "the same gold makes the same question"
    assert broken.outcome is Outcome.GOLD_ERROR


@pytest.mark.slow
def test_triples_need_databases_and_no_questions(sample: QuestionSet) -> None:
    [question, *_] = sample.questions
    gold = question.gold[Dialect.SQLITE]
    path = sample.database(question.db_id).sqlite_path
    for databases in (path, path.parent, path.parent.parent):
        with Evaluator(databases=databases, workers=1) as evaluator:
            judged = evaluator.score(
                [Triple(question.db_id, gold, gold), Triple(question.db_id, gold, "SELECT 9")]
            )
            assert [each.outcome for each in judged] == [Outcome.MATCH, Outcome.MISMATCH]
            with pytest.raises(BadInput, match="question 1: this evaluator has databases but no questions"):
                evaluator.score([Answer(1, gold)])


@pytest.mark.parametrize(
    ("triple", "says"),
    [
        (
            Triple("shop", "SELECT 1", "SELECT 1"),
            "database 'shop': not in sample, which has 4 databases, such as ",
        ),
        (Triple("city_library", "SELECT 1", None), "city_library: the answer is None; give"),  # type: ignore[arg-type]
        (Triple("city_library", "\ud83d", "SELECT 1"), "city_library: the gold is not a text"),
        (
            Triple("city_library", "SELECT 1", "SELECT 1", "mysql"),
            "the answer is in mysql, but this evaluator",
        ),
        (
            Triple("city_library", "SELECT 1", "SELECT 1", gold_dialect="mysql"),
            "gold is in mysql and the answer in sqlite; only SQLite's gold is translated",
        ),
        (
            Triple("city_library", "SELECT 1", "SELECT 1", gold_dialect="oracle"),
            "gold_dialect 'oracle': choose",
        ),
    ],
)
def test_a_triple_that_cannot_be_judged_is_refused(triple: Triple, says: str) -> None:
    with Evaluator("sample", workers=1) as evaluator, pytest.raises(BadInput, match=re.escape(says)):
        evaluator.score([triple])


def test_what_are_no_databases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no SQLite files there .*check the path"):
        Evaluator(databases=tmp_path)
    (tmp_path / "shop.sqlite").write_text("no database", encoding="utf-8")
    with pytest.raises(BadInput, match="shop: not an SQLite file"):
        Evaluator(databases=tmp_path)
    with pytest.raises(BadInput, match="replaces the set"):
        Evaluator("mini_dev", databases=tmp_path)


@pytest.mark.parametrize("server", [Dialect.POSTGRESQL], indirect=True)
@pytest.mark.engine
def test_the_gold_of_a_triple_is_the_dialects_own_or_sqlites_translated(
    sample: QuestionSet, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    name(server, monkeypatch)
    [question, *_] = sample.questions
    own = Triple(question.db_id, "SELECT 7 / 2", "SELECT 7 / 2")
    translated = Triple(question.db_id, "SELECT 7 / 2", "SELECT 3", gold_dialect="sqlite")
    with Evaluator("sample", dialects=server.dialect, workers=1) as evaluator:
        assert [each.outcome for each in evaluator.score([own])] == [Outcome.MATCH]
        with pytest.raises(BadInput, match="profile='faithful'"):
            evaluator.score([translated])
    with Evaluator("sample", dialects=server.dialect, workers=1, profile="faithful") as evaluator:
        assert [each.outcome for each in evaluator.score([own, translated])] == [Outcome.MATCH] * 2
    # The same from a folder of databases, which is loaded for it.
    folder = sample.database(question.db_id).sqlite_path.parent
    with Evaluator(databases=folder, dialects=server.dialect, workers=1, profile="faithful") as evaluator:
        gold = question.gold[Dialect.SQLITE]
        right = Triple(question.db_id, gold, question.gold[server.dialect], gold_dialect="sqlite")
        assert [each.outcome for each in evaluator.score([right, translated])] == [Outcome.MATCH] * 2


@pytest.mark.slow
def test_a_batch_ends_by_its_deadline_and_what_is_late_is_not_begun(sample: QuestionSet) -> None:
    slow = [Answer(question.key, SLOW.format(0)) for question in sample.questions[:6]]
    with Evaluator("sample", workers=1, seconds=2) as evaluator:
        assert evaluator.score(golds(sample, 1), deadline=60)[0].outcome is Outcome.MATCH
        began = time.monotonic()
        late = evaluator.score(slow, deadline=0.2)
        assert time.monotonic() - began < 10, "six statements would take 12 seconds"
        assert {each.outcome for each in late} == {Outcome.HARNESS_ERROR}
        assert {each.error for each in late} == {"it was not judged within 0.2 s, the deadline of its batch"}
        statistics = evaluator.statistics
        assert (statistics.answers, statistics.late, statistics.errors) == (7, 6, 6)
        # One may run still; the other five are not in the way of what comes next.
        assert evaluator.score([Answer(slow[5].question, "SELECT 4")])[0].outcome is Outcome.MISMATCH
        assert evaluator.statistics.executed <= 3


@pytest.mark.slow
def test_what_others_ask_for_too_is_not_given_up(sample: QuestionSet) -> None:
    both = Answer(sample.questions[1].key, "SELECT 5")
    with Evaluator("sample", workers=1, seconds=3, cache=False) as evaluator, ThreadPoolExecutor(2) as pool:
        busy = pool.submit(evaluator.score, [Answer(sample.questions[0].key, SLOW.format(0))])
        time.sleep(0.3)
        patient = pool.submit(evaluator.score, [both])
        time.sleep(0.1)
        assert evaluator.score([both], deadline=0.1)[0].outcome is Outcome.HARNESS_ERROR
        assert patient.result()[0].outcome is Outcome.MISMATCH
        assert busy.result()[0].outcome is Outcome.PREDICTION_TIMEOUT
        assert evaluator.statistics.timeouts == 1


@pytest.mark.slow
def test_answers_come_as_they_are_judged_and_those_that_are_late_last(sample: QuestionSet) -> None:
    first, second = golds(sample, 2)
    answers = [Answer(sample.questions[2].key, SLOW.format(0)), first, second, first]
    with Evaluator("sample", workers=2, seconds=2) as evaluator:
        came = list(evaluator.as_completed(answers))
        assert [place for place, _ in came][-1] == 0
        assert {place: each.outcome for place, each in came} == {
            0: Outcome.PREDICTION_TIMEOUT, 1: Outcome.MATCH, 2: Outcome.MATCH, 3: Outcome.MATCH,
        }  # fmt: skip
        late = list(evaluator.as_completed([Answer(1, SLOW.format(-1)), first], deadline=0.5))
        assert [(place, each.outcome) for place, each in late] == [
            (1, Outcome.MATCH), (0, Outcome.HARNESS_ERROR),
        ]  # fmt: skip
        assert list(evaluator.as_completed([])) == []


@pytest.mark.slow
def test_an_event_loop_goes_on_while_answers_are_judged(sample: QuestionSet) -> None:
    async def run(evaluator: Evaluator) -> tuple[Any, ...]:
        several = [evaluator.ascore(golds(sample, 2)) for _ in range(3)]
        slow = asyncio.create_task(evaluator.ascore([Answer(1, SLOW.format(0))]))
        scored = await asyncio.gather(*several)
        late = await evaluator.ascore([Answer(1, SLOW.format(-1))], deadline=0.1)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        return scored, late, await evaluator.ascore([])

    # What is slow is slow until the evaluator is closed, however busy the machine is.
    with Evaluator("sample", workers=2, seconds=600) as evaluator:
        scored, [late], nothing = asyncio.run(run(evaluator))
    assert [[each.outcome for each in batch] for batch in scored] == [[Outcome.MATCH] * 2] * 3
    assert (late.outcome, nothing) == (Outcome.HARNESS_ERROR, [])


@pytest.mark.slow
def test_what_is_known_takes_no_thread(sample: QuestionSet, monkeypatch: pytest.MonkeyPatch) -> None:
    with Evaluator("sample", workers=1) as evaluator:
        assert evaluator.known(golds(sample, 1)) is None
        known = evaluator.score(golds(sample, 1))
        assert evaluator.known(golds(sample, 2)) is None
        assert evaluator.known(golds(sample, 1) * 2) == known * 2
        assert str(evaluator.statistics) == "answers 3, cached 1, executed 1, timeouts 0, errors 0, late 0"

        async def to_thread(*_: object) -> None:
            pytest.fail("it was looked up in another thread")

        monkeypatch.setattr(asyncio, "to_thread", to_thread)
        assert asyncio.run(evaluator.ascore(golds(sample, 1))) == known


@pytest.mark.slow
def test_an_evaluator_says_what_it_is_and_what_it_did(sample: QuestionSet) -> None:
    [answer] = golds(sample, 1)
    evaluator = Evaluator("sample", workers=1, metrics="ex")
    assert repr(evaluator).startswith(
        "<Evaluator sample: questions 66, databases 4; sqlite; ex; extract none; workers 1; answers 0, "
    )
    evaluator.score([answer])
    evaluator.score([answer])
    assert str(evaluator.statistics) == "answers 2, cached 1, executed 1, timeouts 0, errors 0, late 0"
    assert evaluator.statistics.outcomes == {Outcome.MATCH: 2}
    evaluator.close()
    assert repr(evaluator).endswith("; closed>")


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), "1"])
def test_a_deadline_that_cannot_be_is_refused(deadline: Any) -> None:
    with Evaluator("sample", workers=1) as evaluator, pytest.raises(BadInput, match="deadline "):
        evaluator.score([Answer(1, "SELECT 1")], deadline=deadline)
