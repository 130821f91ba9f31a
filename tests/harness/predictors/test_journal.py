"""What is in a journal when it is opened again, whole, cut off or damaged."""

from contextlib import closing
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.predictors.base import Reply, Usage
from harness.predictors.journal import FILE, Journal, tell
from tests.harness.predictors.making import ask

PAID = Reply("SELECT 1 -- \u2028 ü", Usage(2, 10, 3), "stop", "model-7")


def written(folder: Path) -> bytes:
    """A journal with a reply, a failure, and an ask whose reply never came."""
    with closing(Journal(folder)) as journal:
        journal.sent(ask("1"), prompt_tokens=10)
        journal.replied(ask("1"), PAID)
        journal.sent(ask("2"))
        journal.failed(ask("2"), "status 500", Usage(3))
        journal.sent(ask("3"))
    return (folder / FILE).read_bytes()


def test_replies_are_known_again_as_they_came(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(Journal(tmp_path)) as again:
        assert again.reply("id-1-0") == PAID
        assert again.reply("id-2-0") is None
        assert again.reply("id-3-0") is None
        assert (again.known.failed, again.known.lost) == (1, 1)
        assert again.known.usage == Usage(5, 10, 3)


def test_a_reply_is_known_at_once(tmp_path: Path) -> None:
    with closing(Journal(tmp_path)) as journal:
        journal.replied(ask("1"), PAID)
        assert journal.reply("id-1-0") == PAID


def test_a_later_reply_makes_up_for_a_failure(tmp_path: Path) -> None:
    written(tmp_path)
    with closing(Journal(tmp_path)) as journal:
        journal.replied(ask("2"), PAID)
        journal.replied(ask("3"), PAID)
    with closing(Journal(tmp_path)) as again:
        assert (again.known.failed, again.known.lost, len(again.known.replies)) == (0, 0, 3)


def test_a_journal_cut_off_anywhere_loses_the_last_line_alone(tmp_path: Path) -> None:
    whole = written(tmp_path)
    lines = whole.splitlines(keepends=True)
    for length in range(len(whole) + 1):
        (tmp_path / FILE).write_bytes(whole[:length])
        kept = b"".join(lines[: whole[:length].count(b"\n")])
        with closing(Journal(tmp_path)) as again:
            assert again.known.cut_off is (len(kept) < length)
            assert (again.reply("id-1-0") is not None) is (len(kept) >= len(lines[0] + lines[1]))
            again.sent(ask("4"))
        assert (tmp_path / FILE).read_bytes().startswith(kept + b'{"event": "sent", "identity": "id-4-0"')


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"event": "sung", "identity": "a"}\n',
        b'{"event": "reply", "identity": "a"}\n',
    ],
)
def test_a_damaged_line_stops_the_run_with_its_number(tmp_path: Path, line: bytes) -> None:
    whole = written(tmp_path)
    (tmp_path / FILE).write_bytes(whole + line + whole)
    with pytest.raises(BadInput, match=r"journal\.jsonl: line 6 is no line of a journal"):
        Journal(tmp_path)


def test_what_an_earlier_run_left_is_said(tmp_path: Path) -> None:
    whole = written(tmp_path)
    (tmp_path / FILE).write_bytes(whole + b'{"event": "re')
    said: list[str] = []
    with closing(Journal(tmp_path)) as again:
        tell(again.known, said.append)
    assert [line.split(" ")[0:2] for line in said] == [
        ["1", "replies"],
        ["1", "asks"],
        ["1", "asks"],
        ["the", "last"],
    ]
