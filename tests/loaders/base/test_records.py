"""Records are read strictly, and each fault says where it is, what was there and what has to be there."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from signal import SIG_IGN, SIGXFSZ, signal
from types import MappingProxyType
from typing import Any

import pytest

from dialects.errors import BadInput
from loaders.base.files import parse_json
from loaders.base.records import (
    Recorder,
    RecordFault,
    as_line,
    decode,
    encode,
    read_record,
    read_records,
    to_object,
    to_plain,
    to_record,
)


class Colour(StrEnum):
    RED = "red"


class Word(str):
    __slots__ = ()


@dataclass(frozen=True)
class Inner:
    count: int
    share: int | float | None = None


@dataclass(frozen=True)
class Outer:
    name: str
    colour: Colour = Colour.RED
    inner: Inner | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    rows: tuple[tuple[int | str, ...], ...] = ()


WHOLE = Outer("a", Colour.RED, Inner(3, 1), {"ex": 1.0}, ((1, "x"), ()))


@pytest.mark.parametrize("name", ["a", "\N{SNOWMAN} \N{PILE OF POO}", "half a character: \ud83d", '"\n\\'])
def test_a_record_is_a_document_and_a_line(name: str) -> None:
    record = Outer(name, inner=Inner(3, 1e-7), scores=MappingProxyType({"ex": 1.0}))
    assert decode(Outer, encode(record)) == record
    assert to_record(Outer, parse_json(as_line(record))) == record
    assert as_line({"a": [1, None], "b": Colour.RED}) == '{"a": [1, null], "b": "red"}'


def test_a_record_comes_back_as_it_was_and_keeps_whole_numbers_whole() -> None:
    plain = to_plain(WHOLE)
    assert plain == {
        "name": "a", "colour": "red", "inner": {"count": 3, "share": 1}, "scores": {"ex": 1.0},
        "rows": ((1, "x"), ()),
    }  # fmt: skip
    assert to_record(Outer, plain) == WHOLE
    assert type(plain["inner"]["share"]) is int
    assert to_plain(Outer(Word("b")), known_only=True) == {
        "name": "b", "colour": "red", "scores": {}, "rows": []
    }  # fmt: skip
    assert to_plain(Outer("b", scores=MappingProxyType({"ex": 0.5})))["scores"] == {"ex": 0.5}
    with pytest.raises(TypeError, match="object is not a JSON value"):
        to_plain([object()])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ([], "is an array, not an object"),
        ({}, "has no name"),
        ({"name": 1}, "name is a whole number, not a string"),
        ({"name": "a", "more": 1}, "'more' is unknown"),
        ({"name": "a", "colour": "blue"}, "colour cannot be 'blue'"),
        ({"name": "a", "inner": {"count": "3"}}, "inner.count is a string, not a whole number"),
        ({"name": "a", "inner": {"count": True}}, "inner.count is a boolean, not a whole number"),
        ({"name": "a", "inner": {}}, "inner has no count"),
        ({"name": "a", "inner": {"count": 1, "share": "1"}}, "inner.share is a string, not"),
        ({"name": "a", "scores": {"ex": None}}, r"scores\[...\] is null, not a number"),
        ({"name": "a", "rows": [[1], [None]]}, r"rows\[1\]\[0\] is null, not a (string|whole number) or"),
    ],
)
def test_a_fault_says_where_it_is_what_was_there_and_what_has_to_be(content: Any, fault: str) -> None:
    with pytest.raises(RecordFault, match=fault):
        to_record(Outer, content)


def test_a_part_of_a_record_is_read_where_others_read_the_rest() -> None:
    assert to_record(Inner, {"count": 1, "colour": "red"}, others=True) == Inner(1)


def test_a_file_is_named_with_its_line_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"count": 1}\n\n{"count": "2"}\n', encoding="utf-8")
    found = read_records(path, lambda content: to_record(Inner, content), "write it again")
    assert next(found) == Inner(1)
    with pytest.raises(BadInput, match=r"lines.jsonl: line 3: count is a string, .*; write it again"):
        next(found)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(BadInput, match=r"lines.jsonl: is an array, not an object; write it again"):
        read_record(path, to_object, "write it again")
    path.write_text('{"a": 1, "a": 2}', encoding="utf-8")
    with pytest.raises(BadInput, match="repeated in one object: key 'a'"):
        read_record(path, to_object, "write it again")


def test_a_recorder_goes_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with closing(Recorder(path)) as recorder:
        assert not list(recorder.read(to_object, "write it again"))
        assert not path.exists()
        recorder.add({"count": 1}, durable=True)
        recorder.add({"text": "\ud83d"})
        assert path.read_text(encoding="utf-8").count("\n") == 2
    whole = path.read_bytes()
    for end in (b"", b'{"count"', b"\xff"):
        path.write_bytes(whole + end)
        with closing(Recorder(path)) as recorder:
            assert recorder.was_cut_off is bool(end)
            assert path.read_bytes() == whole
            assert len(list(recorder.read(to_object, "write it again"))) == 2


def test_a_recorder_writes_nothing_behind_half_a_line(tmp_path: Path) -> None:
    path, before = tmp_path / "log.jsonl", getrlimit(RLIMIT_FSIZE)
    ignored = signal(SIGXFSZ, SIG_IGN)
    with closing(Recorder(path)) as recorder:
        recorder.add({"count": 1})
        try:
            setrlimit(RLIMIT_FSIZE, (20, before[1]))
            with pytest.raises(OSError, match="File too large"):
                recorder.add({"count": 2})
        finally:
            setrlimit(RLIMIT_FSIZE, before)
            signal(SIGXFSZ, ignored)
        with pytest.raises(OSError, match="File too large"):
            recorder.add({"count": 3})
    assert path.read_bytes() == b'{"count": 1}\n{"count'
