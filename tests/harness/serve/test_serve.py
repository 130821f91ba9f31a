"""`bird-harness serve`: equal scores to `eval`, limits that hold, and an end that loses no batch."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]  # the checker's own
import pytest

from dialects.enums import Dialect
from harness.provision.dsn import variable
from harness.runs.reader import RESULTS
from harness.serve import client as client_file
from harness.serve.app import is_named
from harness.serve.client import AsyncScoreClient, ScoreClient, ScoreFailure, reward
from loaders.server import Server
from tests import forked
from tests.harness import own_sets
from tests.harness.conftest import Call
from tests.harness.serve.served import ENDLESS, PATIENT_SECONDS, SERVERS, Served, metrics, served
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

RIGHT = {"database": "city_library", "gold": "SELECT 1", "sql": "SELECT 1"}
WRONG = {**RIGHT, "sql": "SELECT 2"}
SLOW = {**RIGHT, "sql": ENDLESS}
TOKEN = "a-token-of-the-tests"
QUEUE, BYTES = 200, 100_000


@pytest.fixture(scope="module")
def shared() -> Iterator[Served]:
    """One for tests that leave it as it is: statements have a second, batches ten."""
    limits = ("--queue", str(QUEUE), "--max-bytes", str(BYTES), "--deadline", "10")
    with served("--timeout", "1", *limits) as found:
        yield found


@pytest.fixture
def client(shared: Served) -> Iterator[ScoreClient]:
    with ScoreClient(shared.address) as found:
        yield found


def post(server: Served, content: Any, **headers: str) -> httpx2.Response:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    sent = {"Content-Type": "application/json"} | {
        name.replace("_", "-"): each for name, each in headers.items()
    }
    return httpx2.post(f"{server.address}/score", content=body, headers=sent, timeout=PATIENT_SECONDS)


def test_scores_are_those_of_eval(tmp_path: Path) -> None:
    done = forked.run("harness", "eval", "--dialect", "sqlite", "--out", "results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "results" / "latest" / RESULTS).read_text(encoding="utf-8").splitlines()
    results = [each for each in map(json.loads, lines) if each["sql"] is not None]
    assert len({each["predictor"] for each in results}) > 1
    answers = [{"question": each["question"], "sql": each["sql"]} for each in results]
    shared = ("outcome", "scores", "error", "code", "gold_index")
    expected = [{name: each[name] for name in shared} for each in results]
    with served("--no-cache") as server, ScoreClient(server.address) as client:
        assert [{name: each[name] for name in shared} for each in client.score(answers)] == expected
        streamed = dict(client.stream(answers))
        assert [{name: streamed[place][name] for name in shared} for place in range(len(answers))] == expected
        single = post(server, answers[0]).json()
        assert {name: single[name] for name in shared} == expected[0]


def test_answers_follow_the_schema(shared: Served) -> None:
    described = httpx2.get(f"{shared.address}/openapi.json").json()
    assert described["openapi"].startswith("3.1")

    def check(kind: str, content: Any) -> None:
        schema = {"$ref": f"#/components/schemas/{kind}", "components": described["components"]}
        jsonschema.Draft202012Validator(schema).validate(content)

    batch = {"answers": [RIGHT, WRONG, {**RIGHT, "sql": "SELEC"}, {**RIGHT, "gold": "SELEC"}], "deadline": 9}
    single = {**RIGHT, "metrics": ["ex"]}
    check("SentBatch", batch)
    check("SentSingle", single)
    check("ScoredBatch", (judged := post(shared, batch).json()))
    check("ScoredAnswer", post(shared, single).json())
    page = httpx2.get(f"{shared.address}/docs")
    assert page.headers["content-type"].startswith("text/html")
    told = [*described["paths"], *described["components"]["schemas"]["SentAnswer"]["properties"]]
    assert [each for each in told if each not in page.text] == []
    assert "Undefined" not in page.text
    assert ": None" not in page.text
    for line in post(shared, batch, Accept="application/x-ndjson").text.splitlines():
        check("StreamedAnswer", json.loads(line))
    check("Failure", post(shared, {}).json())
    check("Health", httpx2.get(f"{shared.address}/health").json())
    outcomes = ["match", "mismatch", "prediction_error", "gold_error"]
    assert [each["outcome"] for each in judged["answers"]] == outcomes
    assert [reward(each) for each in judged["answers"]] == [1.0, 0.0, 0.0, None]
    with pytest.raises(jsonschema.ValidationError):
        check("ScoredAnswer", {**judged["answers"][0], "outcome": "maybe"})


REFUSED = {
    "no JSON": (b"{", 400, "not JSON"),
    "no UTF-8": (b'"\xff"', 400, "not JSON"),
    "deep": (b"[" * 50_000, 400, "nested"),
    "digits": (b'{"sql": ' + b"9" * 5_000 + b"}", 400, "digits"),
    "a list": ([], 422, "an array, not an object"),
    "no text": ({"question": 1}, 422, "has no sql"),
    "a number": ({"question": 1, "sql": 1}, 422, "sql is a whole number"),
    "statements of a question": ({"question": 1, "sql": ["SELECT 1"]}, 422, "of type list, not text"),
    "statements beside gold": ({**RIGHT, "sql": ["SELECT 1"]}, 422, "only tasks have answers of several"),
    "half a character": ({"question": 1, "sql": "\ud83d"}, 422, "UTF-8"),
    "unknown member": ({**RIGHT, "sqll": ""}, 422, "'sqll' is unknown"),
    "beside answers": ({"answers": [RIGHT], "sql": ""}, 422, "'sql' is unknown"),
    "second": ({"answers": [RIGHT, 1]}, 422, "answers[1]"),
    "question and gold": ({**RIGHT, "question": 1}, 422, "give one of the two"),
    "question": ({"question": "none", "sql": ""}, 422, "none"),
    "database": ({**RIGHT, "database": "../x"}, 422, "not in sample"),
    "engine": ({**RIGHT, "dialect": "oracle"}, 422, "choose from"),
    "set": ({**RIGHT, "set": "dev"}, 422, "this server has sample"),
    "metric": ({**RIGHT, "metrics": ["ves"]}, 422, "this server computes ex, soft_f1"),
    "deadline": ({**RIGHT, "deadline": 11}, 422, "at most 10 s"),
    "not a number": (b'{"sql": "", "question": 1, "deadline": NaN}', 422, "deadline"),
    "bytes": ({**RIGHT, "sql": " " * BYTES}, 413, "more than 100,000 bytes"),
    "answers": ({"answers": [RIGHT] * (QUEUE + 1)}, 413, "at most 200"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_is_refused_with_its_fault(shared: Served, name: str) -> None:
    content, status, says = REFUSED[name]
    answer = post(shared, content)
    assert (answer.status_code, says in answer.json()["error"]) == (status, True), answer.text


def test_what_is_no_request_for_scores_is_refused(shared: Served) -> None:
    assert post(shared, RIGHT, Content_Type="text/plain").status_code == 415
    assert httpx2.get(f"{shared.address}/score").status_code == 405
    assert httpx2.get(f"{shared.address}/none").json() == {"error": "Not Found"}
    endless = iter([b"x" * BYTES] * 50)
    with suppress(httpx2.TransportError):  # the server may close before everything is sent
        sent = httpx2.post(
            f"{shared.address}/score", content=endless, headers={"Content-Type": "application/json"}
        )
        assert sent.status_code == 413


def test_metrics_are_selected_by_name(shared: Served) -> None:
    assert post(shared, {**RIGHT, "metrics": ["soft_f1"]}).json()["scores"] == {"soft_f1": 1.0}


def test_a_request_chooses_how_sql_is_taken_out(shared: Served, client: ScoreClient) -> None:
    raw = {**RIGHT, "sql": f"<think>So</think>\n```sql\n{RIGHT['sql']}\n```"}
    for policy, sql, score in (("answer-1", RIGHT["sql"], 1.0), ("none", None, 0.0), (None, None, 0.0)):
        one = post(shared, {**raw, **({} if policy is None else {"extract": policy})}).json()
        [told] = client.score([raw], extract=policy)
        [(_, streamed)] = client.stream([raw], extract=policy)
        for each in (one, told, streamed):
            found = each["extract"], each["sql"], each["scores"]["ex"]
            assert found == (policy or "none", sql, score)
    [without] = client.score([{**raw, "sql": "I cannot"}], extract="answer-1")
    assert (without["sql"], without["outcome"]) == (None, "prediction_error")
    assert post(shared, {**raw, "extract": "answer"}).status_code == 422


def test_answers_are_streamed_as_they_are_judged() -> None:
    with served("--workers", "2", "--timeout", "2") as two, ScoreClient(two.address) as client:
        # Answers with the same gold are judged together.
        places = [place for place, _ in client.stream([SLOW, {**RIGHT, "gold": "SELECT 1 AS one"}])]
    assert places == [1, 0]


def test_a_batch_ends_at_its_deadline_and_nobody_is_to_blame() -> None:
    with served("--timeout", "20") as server, ScoreClient(server.address) as client:
        judged = client.score([SLOW, WRONG], deadline=1.5)
        assert judged[0]["outcome"] == "harness_error"
        assert reward(judged[0]) is None
        assert metrics(server)["bird_late_total"] >= 1


def test_the_counts_are_those_of_the_requests() -> None:
    with served() as server, ScoreClient(server.address) as client:
        client.score([RIGHT, WRONG, WRONG])
        list(client.stream([RIGHT]))
        post(server, b"{")
        found = metrics(server)
    assert found['bird_answers_total{outcome="match"}'] == 2
    assert found['bird_answers_total{outcome="mismatch"}'] == 2
    assert found['bird_requests_total{status="200"}'] == 2
    assert found['bird_requests_total{status="400"}'] == 1
    assert found["bird_score_seconds_count"] == found['bird_score_seconds_bucket{le="+Inf"}'] == 3
    assert found["bird_waiting_answers"] == 0


@pytest.mark.parametrize(
    ("name", "is_own"),
    [
        ("localhost", True), ("LocalHost:8642", True), ("localhost.", True), ("127.0.0.1:1", True),
        ("127.9.9.9", True), ("[::1]:8642", True), ("[::1]", True), ("gpu-7:8642", True),
        ("evil.example", False), ("evil.example:8642", False), ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False), ("192.168.0.1", False), ("8.8.8.8", False), ("", False),
        ("null", False), ("[::1].evil.example", False), ("evil.example@localhost", False),
        ("localhost@evil.example", False), ("[::2]:1", False), ("[", False),
    ],
)  # fmt: skip
def test_a_server_has_loopback_names_and_its_own(name: str, *, is_own: bool) -> None:
    assert is_named(name, {"gpu-7"}) is is_own


def test_a_page_of_another_site_is_refused(shared: Served) -> None:
    paths = ("/score", "/health", "/metrics", "/openapi.json", "/docs")
    for sent in (
        {"Host": "evil.example"},
        {"Host": "evil.example:8642", "Origin": "http://evil.example:8642"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ):
        assert post(shared, RIGHT, **sent).status_code == 403
        for path in paths:
            assert httpx2.get(f"{shared.address}{path}", headers=sent).status_code == 403, (path, sent)
    for sent in ({"Host": "localhost"}, {"Origin": "http://localhost:3000"}, {"Host": "[::1]:1"}):
        assert post(shared, RIGHT, **sent).status_code == 200
    with served("--allow-host", "GPU-7.example") as server:
        assert post(server, RIGHT, Host="gpu-7.example:80").status_code == 200
        assert post(server, RIGHT, Host="gpu-8.example").status_code == 403
    with served(BIRD_SERVE_TOKEN=TOKEN) as server:
        sent = {"Host": "proxy.example", "Authorization": f"Bearer {TOKEN}"}
        assert post(server, RIGHT, **sent).status_code == 200


def test_the_page_of_the_interface_loads_nothing(shared: Served) -> None:
    policy = httpx2.get(f"{shared.address}/docs").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.parametrize("deadline", [0, -1, 0.0, 1e999])
def test_a_deadline_is_above_zero_and_declared_so(shared: Served, deadline: float) -> None:
    described = httpx2.get(f"{shared.address}/openapi.json").json()["components"]["schemas"]
    for kind in ("SentSingle", "SentBatch"):
        one_of = described[kind]["properties"]["deadline"]["anyOf"]
        assert {"type": "number", "exclusiveMinimum": 0} in one_of
    body = json.dumps({**RIGHT, "deadline": deadline}).encode()
    answer = post(shared, body)
    assert (answer.status_code, "deadline" in answer.json()["error"]) == (422, True)
    assert post(shared, {**RIGHT, "deadline": 1}).status_code == 200


def test_a_token_is_needed_if_there_is_one() -> None:
    with served(BIRD_SERVE_TOKEN=TOKEN) as server:
        for sent in ({}, {"Authorization": "Bearer other"}, {"Authorization": TOKEN}):
            assert post(server, RIGHT, **sent).status_code == 401
            assert httpx2.get(f"{server.address}/metrics", headers=sent).status_code == 401
        assert httpx2.get(f"{server.address}/health").status_code == 200
        with ScoreClient(server.address, token=TOKEN) as client:
            assert client.score([RIGHT])[0]["outcome"] == "match"
        with ScoreClient(server.address) as stranger, pytest.raises(ScoreFailure, match="401: the bearer"):
            stranger.score([RIGHT])


def test_more_answers_than_the_queue_holds_have_to_wait() -> None:
    with (
        served("--queue", "2", "--timeout", "3") as server,
        ThreadPoolExecutor() as pool,
        ScoreClient(server.address) as client,
    ):
        slow = pool.submit(client.score, [SLOW, RIGHT])
        until = time.monotonic() + PATIENT_SECONDS
        while not metrics(server)["bird_waiting_answers"] and time.monotonic() < until:
            time.sleep(0.02)
        refused = post(server, RIGHT)
        assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
        assert client.score([RIGHT])[0]["outcome"] == "match"
        assert slow.result()[0]["outcome"] == "prediction_timeout"


def test_the_client_for_asyncio_does_the_same() -> None:
    """Also while the server is not up yet, busy, or refuses."""

    async def asked(server: Served, client: AsyncScoreClient) -> None:
        slow = asyncio.ensure_future(client.score([SLOW, RIGHT]))
        while not metrics(server)["bird_waiting_answers"] and not slow.done():  # noqa: ASYNC110 - of a process
            await asyncio.sleep(0.02)
        assert (await client.score([RIGHT, WRONG], deadline=60, metrics=["ex"]))[0]["scores"] == {"ex": 1.0}
        assert [each["outcome"] for each in await slow] == ["prediction_timeout", "match"]
        places = {place: each["outcome"] async for place, each in client.stream([RIGHT, WRONG])}
        assert places == {0: "match", 1: "mismatch"}
        for ask in (client.score([{"question": 1}]), anext(client.stream([{"question": 1}]))):
            with pytest.raises(ScoreFailure, match="422: "):
                await ask
        assert await client.is_ready()

    async def main() -> None:
        with served("--queue", "2", "--timeout", "3") as server:
            async with AsyncScoreClient(server.address) as client:
                await asked(server, client)
        async with AsyncScoreClient(server.address, patience=0.0) as nobody:
            assert not await nobody.is_ready()
            with pytest.raises(httpx2.TransportError):
                await nobody.score([RIGHT])

    asyncio.run(main())


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_a_client_that_goes_away_leaves_its_places(accept: str) -> None:
    with served("--queue", "2", "--timeout", "2") as server:
        with suppress(httpx2.TimeoutException), httpx2.stream(
            "POST", f"{server.address}/score", json={"answers": [SLOW, SLOW]},
            headers={"Accept": accept}, timeout=0.7,
        ) as response:  # fmt: skip
            response.read()
        with ScoreClient(server.address) as client:
            assert client.score([RIGHT, WRONG])[0]["outcome"] == "match"
        assert metrics(server)["bird_waiting_answers"] == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_at_sigterm_running_batches_finish_and_new_ones_are_refused(processes: str) -> None:
    with (
        served("--timeout", "4", "--processes", processes, "--no-cache") as server,
        ThreadPoolExecutor() as pool,
        ScoreClient(server.address) as client,
    ):
        running = pool.submit(client.score, [SLOW])
        until = time.monotonic() + PATIENT_SECONDS
        while not metrics(server)["bird_waiting_answers"] and time.monotonic() < until:
            time.sleep(0.02)
        server.process.send_signal(signal.SIGTERM)
        seen = set()
        while 503 not in seen and not running.done():
            # A process that ends may have accepted a connection that nobody answers any more.
            with suppress(httpx2.TransportError):
                seen.add(httpx2.post(f"{server.address}/score", json=RIGHT, timeout=0.5).status_code)
        assert 503 in seen
        assert running.result()[0]["outcome"] == "prediction_timeout"
        assert server.process.wait(PATIENT_SECONDS) == 0
        assert not client.is_ready()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_a_process_that_is_killed_is_replaced_and_its_counts_stay() -> None:
    with served("--processes", "2") as server, ScoreClient(server.address) as client:
        assert client.score([RIGHT] * 3)
        until = time.monotonic() + PATIENT_SECONDS
        while len(before := server.below(SERVERS)) < 2 and time.monotonic() < until:
            time.sleep(0.02)
        for each in before:
            os.kill(each, signal.SIGKILL)
        while True:
            with suppress(httpx2.TransportError):
                assert client.score([RIGHT])[0]["outcome"] == "match"
                break
        assert not set(before) & set(server.below(SERVERS))
        assert metrics(server)['bird_answers_total{outcome="match"}'] == 4
        assert server.end() == 0


def test_a_request_names_one_of_several_sets(tmp_path: Path) -> None:
    own_sets.bird_dev(tmp_path)
    named = ("--set", "sample", "--set", str(tmp_path))
    with served(*named) as server, ScoreClient(server.address) as client:
        gold = own_sets.records()[0]["SQL"]
        assert client.score([{"question": 10, "sql": gold}], set_name=str(tmp_path))[0]["outcome"] == "match"
        assert client.score([RIGHT], set_name="sample")[0]["outcome"] == "match"
        with pytest.raises(ScoreFailure, match="422: no set is named"):
            client.score([RIGHT])


def test_own_databases_need_no_questions(tmp_path: Path) -> None:
    sqlite_file(tmp_path / "shop.sqlite", "CREATE TABLE t (a INTEGER)")
    with served("--databases", str(tmp_path)) as server, ScoreClient(server.address) as client:
        [judged] = client.score([{"database": "shop", "gold": "SELECT 0", "sql": "SELECT count(*) FROM t"}])
        assert judged["outcome"] == "match"
        with pytest.raises(ScoreFailure, match="give a Triple"):
            client.score([{"question": 1, "sql": "SELECT 1"}])


def test_the_client_is_one_file(shared: Served, tmp_path: Path) -> None:
    shutil.copy(client_file.__file__, tmp_path / "score_client.py")
    program = (
        "import sys; sys.path.insert(0, '.'); import score_client as s; c = s.ScoreClient(sys.argv[1]);"
        f"print(s.reward(c.score([{RIGHT!r}])[0]), 'harness' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, shared.address],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "1.0 False\n", done.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--host", "0.0.0.0"), "BIRD_SERVE_TOKEN"),  # noqa: S104 - it is refused
        (("--host", "192.0.2.1", "--port", "1"), "BIRD_SERVE_TOKEN"),
        (("--metrics", "ves"), "ves"),
        (("--set", "none"), "none"),
        (("--databases", "none", "--set", "dev"), "replaces --set; leave one of them out; a file of tasks"),
        (("--extract", "official"), "choose from none, fences, answer-1"),
        (("--family", "livesqlbench"), "name it with --set"),
        (("--phase", "first"), "add --family"),
        (("--processes", "0"), "--processes 0"),
        (("--dialect", "oracle"), "oracle"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    call: Call, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], says: str
) -> None:
    monkeypatch.delenv("BIRD_SERVE_TOKEN", raising=False)
    code, output, errors = call("serve", *options)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert says in errors


def test_a_port_in_use_is_refused(call: Call, shared: Served) -> None:
    code, _, errors = call("serve", "--port", shared.address.rpartition(":")[2])
    assert code == 2
    assert "in use" in errors


def test_without_the_extra_one_line_says_what_to_install(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("harness.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    code, _, errors = call("serve")
    assert code == 2
    assert "pip install 'bird-harness[serve]'" in errors
    assert errors.count("\n") == 1


@pytest.mark.engine
def test_scores_on_postgresql(postgresql_server: Server) -> None:
    found = postgresql_server
    dsn = {variable(Dialect.POSTGRESQL): f"postgresql://{found.user}:{found.password}@{found.address}"}
    mine = {
        "database": "city_library",
        "gold": "SELECT to_char(DATE '2026-01-02', 'YYYY')",
        "dialect": "postgresql",
    }
    texts = ("SELECT '2026'", "SELECT '2025'", "SELECT pg_sleep(60)", "DROP TABLE books")
    options = ("--dialect", "postgresql", "--timeout", "2")
    with served(*options, **dsn) as server, ScoreClient(server.address) as client:
        judged = client.score([{**mine, "sql": sql} for sql in texts])
    assert [each["outcome"] for each in judged] == [
        "match", "mismatch", "prediction_timeout", "prediction_error",
    ]  # fmt: skip
