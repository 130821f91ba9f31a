"""The same answers in every format and under every key, as interfaces of models return them, or refused."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answer_records import FIELDS, ID, SQL, parse_keys
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.data.responses import read_response
from harness.data.sets.loader import load_set
from tests.harness import own_sets as sets
from tests.harness import small_sets as small
from tests.harness.conftest import Call

ANSWERS = {"1471": "SELECT 0", "9": "SELECT 1", "137": "SELECT 2", "137#2": "SELECT 3"}

Records = Sequence[Mapping[str, Any]]


def json_array(records: Records) -> str:
    return json.dumps(records, indent=1)


def json_lines(records: Records) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def table(records: Records) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for record in records for key in record)))
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()


FORMATS: Mapping[str, Callable[[Records], str]] = {"json": json_array, "jsonl": json_lines, "csv": table}


def read(
    path: Path, text: str, questions: QuestionSet, *, keys: str | None = None, missing: bool = True
) -> PredictionFile:
    path.write_text(text, encoding="utf-8")
    (found,) = read_predictions(
        [path], questions, predictor="p", dialects=[Dialect.SQLITE], allow_missing=missing,
        keys=() if keys is None else parse_keys(keys), say=SAID.append,
    )  # fmt: skip
    return found


SAID: list[str] = []


@pytest.fixture(autouse=True)
def nothing_said() -> None:
    SAID.clear()


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("key", [*FIELDS[SQL].all_keys, "Predicted_SQL", "RESPONSE"])
def test_every_key_of_an_answer_is_read_in_every_format(
    tmp_path: Path, first: QuestionSet, form: str, key: str
) -> None:
    records = [{"question_id": one, key: sql} for one, sql in ANSWERS.items()]
    found = read(tmp_path / f"a.{form}", FORMATS[form](records), first, missing=False)
    assert (found.predictions, SAID) == (ANSWERS, [])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("key", [*FIELDS[ID].all_keys, "ID"])
def test_every_key_of_an_id_is_read_in_every_format(
    tmp_path: Path, first: QuestionSet, form: str, key: str
) -> None:
    records = [{key: one, "sql": sql} for one, sql in reversed(ANSWERS.items())]
    assert read(tmp_path / f"a.{form}", FORMATS[form](records), first, missing=False).predictions == ANSWERS


@pytest.mark.parametrize("form", FORMATS)
def test_other_fields_mean_the_same_in_every_format(tmp_path: Path, first: QuestionSet, form: str) -> None:
    full = {
        "db_id": "zoo",
        "dialect": "sqlite",
        "translated_from": "mysql",
        "seconds": 1.5,
        "prompt_tokens": 7,
    }
    records = [
        {"id": 9, "sql": "SELECT 1", **full, "reason": None, "model": "m"},
        {
            "id": 1471,
            "sql": None,
            **dict.fromkeys(full),
            "db_id": "zoo",
            "dialect": "sqlite",
            "reason": "late",
        },
    ]
    for record in records:
        for name in [name for name, value in record.items() if value is None and name != "sql"]:
            del record[name]
    found = read(tmp_path / f"a.{form}", FORMATS[form](records), first)
    assert (found.predictions["9"], found.predictions["1471"]) == ("SELECT 1", None)
    assert (found.translated_from, dict(found.reasons)) == ("mysql", {"1471": "late"})
    assert found.usage["9"].to_json() == {"prompt_tokens": 7, "seconds": 1.5}
    assert [f"{tmp_path / f'a.{form}'}: keys that are not read: model"] == SAID


@pytest.mark.parametrize("form", FORMATS)
def test_records_without_ids_are_in_the_order_of_the_set(
    tmp_path: Path, first: QuestionSet, form: str
) -> None:
    records = [{"response": sql} for sql in ANSWERS.values()]
    path = tmp_path / f"a.{form}"
    assert read(path, FORMATS[form](records), first).predictions == ANSWERS
    assert [f"{path}: has no ids, so it is taken in the order of mini_dev"] == SAID


@pytest.mark.parametrize("form", FORMATS)
def test_records_in_another_order_need_their_ids(tmp_path: Path, first: QuestionSet, form: str) -> None:
    for numbers in (list(ANSWERS)[::-1], [3, 1, 2, 0]):
        records = [{"n": n, "sql": sql} for n, sql in zip(numbers, ANSWERS.values(), strict=True)]
        with pytest.raises(BadInput, match=r"no known ids, and n may be one in another order; .*--keys id=n"):
            read(tmp_path / f"a.{form}", FORMATS[form](records), first)
    for numbers in (list(ANSWERS), [0, 1, 2, 3], [7, 9, 8, 10], [0, 0, 1, 1], ["a", "b", "c", "d"]):
        records = [{"n": n, "sql": sql} for n, sql in zip(numbers, ANSWERS.values(), strict=True)]
        assert read(tmp_path / f"a.{form}", FORMATS[form](records), first).predictions == ANSWERS


@pytest.mark.parametrize("form", FORMATS)
def test_a_user_names_keys(tmp_path: Path, first: QuestionSet, form: str) -> None:
    records = [
        {"question_id": "wrong", "no": one, "sql": "SELECT 9", "mine": sql} for one, sql in ANSWERS.items()
    ]
    text = FORMATS[form](records)
    assert read(tmp_path / f"a.{form}", text, first, keys="id=no, sql=mine").predictions == ANSWERS
    with pytest.raises(BadInput, match=r"no (column of answers|none).*--keys id=KEY,sql=KEY"):
        read(tmp_path / f"a.{form}", text, first, keys="sql=none")


def test_a_user_names_keys_within_objects(tmp_path: Path, first: QuestionSet) -> None:
    records = [
        {"meta": {"id": one}, "runs": [{"text": sql}, {"text": "SELECT 9"}]} for one, sql in ANSWERS.items()
    ]
    found = read(tmp_path / "a.jsonl", json_lines(records), first, keys="id=meta.id,sql=runs.0.text")
    assert found.predictions == ANSWERS


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("sql", "'sql' names no key; write --keys id=KEY,sql=KEY"),
        ("id=a,", "'' names no key"),
        ("text=a", "'text' is not a field; choose from id, sql, db_id"),
        ("sql=a,sql=b", "'sql=b' names a field or a key again"),
        ("id=a,question_id=b", "names a field or a key again"),
        ("id=a,sql=a", "names a field or a key again"),
    ],
)
def test_keys_that_name_nothing_are_refused(keys: str, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_keys(keys)
    assert says in str(refused.value)


RESPONSES: Mapping[str, Callable[[str], Any]] = {
    "chat completion": lambda text: {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text, "reasoning_content": "SELECT 8"},
            }
        ],
        "usage": {"prompt_tokens": 1},
    },
    "chat completion in parts": lambda text: {
        "choices": [{"message": {"content": [{"type": "text", "text": text}]}}]
    },
    "completion": lambda text: {"object": "text_completion", "id": "c", "choices": [{"text": text}]},
    "Responses": lambda text: {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "SELECT 8"}]},
            {"type": "message", "content": [{"type": "output_text", "text": text}]},
        ],
    },
    "Anthropic": lambda text: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "SELECT 8"}, {"type": "text", "text": text}],
        "stop_reason": "end_turn",
    },
    "Google": lambda text: {
        "candidates": [{"content": {"parts": [{"text": "SELECT 8", "thought": True}, {"text": text}]}}]
    },
    "Bedrock": lambda text: {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}},
    "vLLM": lambda text: {
        "request_id": "7",
        "prompt": "How many?",
        "outputs": [{"index": 0, "text": text, "token_ids": [1]}],
    },
    "pipeline": lambda text: [{"generated_text": text}],
    "pipeline of a chat": lambda text: {
        "generated_text": [{"role": "user", "content": "SELECT 8"}, {"role": "assistant", "content": text}]
    },
    "conversation": lambda text: {
        "messages": [{"role": "user", "content": "SELECT 8"}, {"role": "assistant", "content": text}]
    },
    "Ollama": lambda text: {"model": "m", "message": {"role": "assistant", "content": text}, "done": True},
    "line of a batch": lambda text: {
        "id": "batch_req_1",
        "response": {"status_code": 200, "body": {"choices": [{"message": {"content": text}}]}},
        "error": None,
    },
    "line of a batch of Anthropic's": lambda text: {
        "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": text}]}}
    },
}


@pytest.mark.parametrize("name", RESPONSES)
def test_responses_are_read_as_interfaces_return_them(tmp_path: Path, first: QuestionSet, name: str) -> None:
    """As the record itself, as the value of a key, keyed by ids, and as a list in the set's order."""
    made = {key: RESPONSES[name](sql) for key, sql in ANSWERS.items()}
    ways: dict[str, Any] = {
        "values.jsonl": json_lines([{"question_id": key, "response": value} for key, value in made.items()]),
        "keyed.json": json.dumps(made),
    }
    if name != "line of a batch":  # its id is the batch's, so it is never without custom_id
        ways["list.json"] = json.dumps(list(made.values()))
    if name != "pipeline":
        ways["lines.jsonl"] = json_lines([{"custom_id": key, **value} for key, value in made.items()])
    for file, text in ways.items():
        assert read(tmp_path / file, text, first, missing=False).predictions == ANSWERS, file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            {"response": None, "error": {"code": "x", "message": "too many\ntokens"}},
            "an error: too many tokens",
        ),
        ({"response": {"status_code": 400, "body": {"error": {"message": "bad"}}}}, "an error: bad"),
        ({"result": {"type": "errored", "error": {"error": {"message": "bad"}}}}, "an error: bad"),
        ({"result": {"type": "expired"}}, "the request expired"),
        ({"choices": [{"message": {"content": None, "refusal": "No."}}]}, "the model refused: No."),
        ({"choices": [{"message": {"content": None}}]}, "has no text"),
        ({"type": "message", "content": [], "stop_reason": "max_tokens"}, "no text (finished by max_tokens)"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "no text (finished by SAFETY)"),
        (
            {"output": [{"type": "reasoning"}], "incomplete_details": {"reason": "max_output_tokens"}},
            "no text (finished by length)",
        ),
    ],
)
def test_a_response_without_a_text_is_no_answer_with_its_reason(
    tmp_path: Path, first: QuestionSet, line: Mapping[str, Any], reason: str
) -> None:
    found = read(tmp_path / "a.jsonl", json_lines([{"custom_id": "9", **line}]), first)
    assert found.predictions["9"] is None
    assert reason in found.reasons["9"]


@pytest.mark.parametrize(
    "value",
    ["SELECT 1", 5, None, True, {}, [], [1], {"content": 5}, {"choices": []}, {"output": 1}, {"message": "x"},
     {"messages": [{"role": "user", "content": "x"}]}, {"outputs": [{}]}, {"result": {"rows": [[1]]}}],
)  # fmt: skip
def test_what_is_no_response_is_not_taken_for_one(value: Any) -> None:
    assert read_response(value) is None


def test_the_result_of_a_query_is_no_answer(tmp_path: Path, first: QuestionSet) -> None:
    records = [{"id": 9, "sql": "SELECT 1", "result": [[1]], "content": [1], "messages": [], "output": None}]
    with pytest.raises(BadInput, match=r"line 1 \(sql, output\): several answers that differ"):
        read(tmp_path / "a.jsonl", json_lines(records), first)
    del records[0]["output"]
    assert read(tmp_path / "a.jsonl", json_lines(records), first).predictions["9"] == "SELECT 1"


@pytest.mark.parametrize("form", FORMATS)
def test_equal_answers_under_two_keys_are_one(tmp_path: Path, first: QuestionSet, form: str) -> None:
    records = [{"id": 9, "sql": "SELECT 1", "prediction": "SELECT 1"}]
    assert read(tmp_path / f"a.{form}", FORMATS[form](records), first).predictions["9"] == "SELECT 1"
    records[0]["prediction"] = "SELECT 2"
    with pytest.raises(BadInput, match=r"\(sql, prediction\): several answers that differ.*--keys sql=sql"):
        read(tmp_path / f"a.{form}", FORMATS[form](records), first)
    found = read(tmp_path / f"a.{form}", FORMATS[form](records), first, keys="sql=prediction")
    assert found.predictions["9"] == "SELECT 2"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("key", ["SQL", "query", "sql_query"])
def test_the_gold_of_a_question_is_not_taken_for_its_answer(
    tmp_path: Path, first: QuestionSet, form: str, key: str
) -> None:
    records = [{"question_id": one, "question": "How many?", key: sql} for one, sql in ANSWERS.items()]
    with pytest.raises(BadInput, match=rf"{key} beside the question's text.*--keys sql={key}"):
        read(tmp_path / f"a.{form}", FORMATS[form](records), first)
    found = read(tmp_path / f"a.{form}", FORMATS[form](records), first, keys=f"sql={key}")
    assert found.predictions == ANSWERS


def test_the_questions_of_a_set_are_no_predictions(tmp_path: Path) -> None:
    small.write_dev(tmp_path)
    questions, path = load_set("dev", tmp_path), tmp_path / "dev.json"
    with pytest.raises(
        BadInput, match=r"dev.json: is a file of dev itself, whose SQL is gold; name a file of"
    ):
        read_predictions([path], questions, predictor="p", dialects=[Dialect.SQLITE])
    (found,) = read_predictions([path], questions, predictor="p", dialects=[Dialect.SQLITE], keys=["sql=SQL"])
    assert found.predictions["9"] == "SELECT 1  AS sqlite"


def test_an_object_keyed_by_ids_is_told_from_positions(tmp_path: Path, first: QuestionSet) -> None:
    official = f"SELECT 1{small.SEPARATOR}zoo"
    keyed: Mapping[str, Any] = {
        "137#2": "SELECT 3",
        "9": official,
        "137": {"sql": "SELECT 2", "db_id": "bank"},
        "1471": {"response": "SELECT 0", "question_id": 1471},
    }
    found = read(tmp_path / "a.json", json.dumps(keyed), first, missing=False)
    assert (found.format, found.predictions) == ("keyed", ANSWERS)
    assert read(tmp_path / "b.json", json.dumps({**keyed, "137": None}), first).predictions["137"] is None
    assert read(tmp_path / "c.json", json.dumps(small.official()), first).format == "official"


SAMPLE = load_set("sample")
DATABASES = [question.db_id for question in SAMPLE.questions]


def keyed_sample(keys: Sequence[int], database_of: Callable[[int], str] | None) -> str:
    end = "" if database_of is None else small.SEPARATOR
    return json.dumps(
        {str(key): f"SELECT {key}{end}{database_of(key) if database_of else ''}" for key in keys}
    )


def test_keys_that_may_be_positions_or_ids(tmp_path: Path) -> None:
    """The sample's ids are 1 to 66, its positions 0 to 65."""
    size = len(SAMPLE.questions)
    by_id = read(tmp_path / "a.json", keyed_sample(range(1, size + 1), None), SAMPLE, missing=False)
    assert (by_id.format, by_id.predictions["66"]) == ("keyed", "SELECT 66")
    official = keyed_sample(range(size), lambda position: DATABASES[position])
    by_place = read(tmp_path / "b.json", official, SAMPLE, missing=False)
    assert (by_place.format, by_place.predictions["66"]) == ("official", "SELECT 65")
    # Part of either: the databases decide if they can.
    edge = next(place for place in range(1, size) if DATABASES[place] != DATABASES[place - 1])
    of_ids = keyed_sample([edge], lambda key: DATABASES[key - 1])
    assert read(tmp_path / "c.json", of_ids, SAMPLE).predictions[str(edge)] == f"SELECT {edge}"
    of_places = keyed_sample([edge], lambda key: DATABASES[key])
    assert read(tmp_path / "d.json", of_places, SAMPLE).predictions[str(edge + 1)] == f"SELECT {edge}"
    for unclear in (keyed_sample([edge], None), keyed_sample([1, 2], lambda _: DATABASES[0])):
        with pytest.raises(
            BadInput, match=r"positions in sample or ids of questions, and these differ; write"
        ):
            read(tmp_path / "e.json", unclear, SAMPLE)


def test_ids_that_are_positions_need_no_telling(tmp_path: Path) -> None:
    questions = load_set(str(sets.FAMILIES["spider"](tmp_path / "my_spider")))
    for end, form in (("", "keyed"), (f"{small.SEPARATOR}shop", "official")):
        text = json.dumps({str(place): f"SELECT {place}{end}" for place in range(4)})
        found = read(tmp_path / f"{form}.json", text, questions, missing=False)
        assert (found.format, found.predictions["3"]) == (form, "SELECT 3")


def test_a_single_record_is_no_object_of_answers(tmp_path: Path, first: QuestionSet) -> None:
    text = json.dumps({"instance_id": 9, "predicted_sql": "SELECT 1"}, indent=2)
    assert read(tmp_path / "a.json", text, first).predictions["9"] == "SELECT 1"


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", json.dumps(small.official())), ("a.sql", "SELECT 1\n" * 4), ("b.json", '["SELECT 1"]')],
)
def test_keys_of_a_file_without_records_are_refused(
    tmp_path: Path, first: QuestionSet, name: str, text: str
) -> None:
    with pytest.raises(BadInput, match=r"has no records, so that --keys names nothing in it; omit --keys"):
        read(tmp_path / name, text, first, keys="sql=mine")


@pytest.mark.slow
@pytest.mark.thorough
def test_every_command_that_reads_predictions_takes_keys(tmp_path: Path, call: Call) -> None:
    records = [
        {"no": int(one.key), "mine": one.gold[Dialect.SQLITE], "sql": "-"} for one in SAMPLE.questions[::-1]
    ]
    (tmp_path / "raw.jsonl").write_text(json_lines(records))
    keys, given = ("--keys", "id=no,sql=mine"), ("--predictions", "raw.jsonl")
    asked = (*given, "--predictor", "p", "--dialect", "sqlite")
    scored = (
        "eval",
        *asked,
        "--limit",
        "2",
        "--no-report",
        "--no-cache",
        "--driver",
        "direct",
        "--fail-under=100",
    )
    code, _, said = call(*scored, *keys)
    assert code == 0, said
    code, _, said = call(*scored, "--keys", "id=no,sql=sql", "--resume", "results/latest")
    assert (code, "keys is " in said) == (2, True), said
    code, _, said = call("lab", "explain", *asked, *keys, "--question", "1")
    assert code == 0, said
    once = ("lab", "predict", "file:raw.jsonl", "--dialect", "sqlite", "--limit", "2")
    code, _, said = call(*once, *keys, "--name", "q", "--eval")
    assert (code, " 100.00 " in said + _) == (0, True), said
    code, _, said = call(*once, "--name", "r")
    assert (code, "--keys id=no" in said) == (2, True), said
    written = ("--set", "sample", *given, *keys, "--dialect", "mysql", "--out", "translated")
    code, _, said = call("translate", *written)
    assert (code, "no predictor" in said) == (2, True), said
