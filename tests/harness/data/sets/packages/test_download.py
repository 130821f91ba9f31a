"""What a server may do wrong, and what then arrives: the whole file, or a clear error and nothing half."""

import socket
from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.data.sets.archives import Download, Unreachable, download
from tests.harness.data.sets.packages.server import Answer, serving

BODY = bytes(range(256)) * 8_000
OTHER = BODY[::-1]
CUT = 700_000
NO_PAUSES = (0.0, 0.0)
DATE = "Thu, 20 Jun 2024 08:00:00 GMT"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def quiet(what: str, done: int, total: int | None) -> None:
    pass


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("answers", "expected", "ranges"),
    [
        ([Answer(BODY)], BODY, [None]),
        ([Answer(BODY, length=-1)], BODY, [None]),
        ([Answer(BODY, cut=CUT), Answer(BODY)], BODY, [None, f"bytes={CUT}-"]),
        ([Answer(BODY, None, DATE, cut=CUT), Answer(BODY, None, DATE)], BODY, [None, f"bytes={CUT}-"]),
        ([Answer(BODY, 'W/"weak"', cut=CUT), Answer(BODY, 'W/"weak"')], BODY, [None, None]),
        ([Answer(BODY, None, cut=CUT), Answer(BODY, None)], BODY, [None, None]),
        ([Answer(BODY, cut=CUT), Answer(BODY, ranges=False)], BODY, [None, f"bytes={CUT}-"]),
        ([Answer(BODY, cut=CUT), Answer(OTHER, '"two"')], OTHER, [None, f"bytes={CUT}-"]),
        (
            [Answer(BODY, cut=CUT), Answer(OTHER, '"two"', honest=False)],
            OTHER,
            [None, f"bytes={CUT}-", None],
        ),
        (
            [Answer(BODY, cut=CUT), Answer(OTHER + b"more", None, honest=False)],
            OTHER + b"more",
            [None, f"bytes={CUT}-", None],
        ),
        (
            [Answer(BODY, cut=CUT), Answer(BODY[:9], honest=False), Answer(BODY[:9], '"two"')],
            BODY[:9],
            [None, f"bytes={CUT}-", None],
        ),
        ([Answer(status=503), Answer(status=429), Answer(BODY)], BODY, [None, None, None]),
        (
            [*[Answer(BODY, cut=10)] * 4, Answer(BODY)],
            BODY,
            [None, "bytes=10-", "bytes=20-", "bytes=30-", "bytes=40-"],
        ),
    ],
    ids=[
        "whole",
        "no length",
        "breaks off",
        "breaks off, a date for a tag",
        "breaks off, a weak tag",
        "breaks off, no tag",
        "breaks off, sends all again",
        "breaks off, then another file",
        "breaks off, then the rest of another file",
        "breaks off, then the rest of a longer file",
        "breaks off, then a file with no rest",
        "busy twice",
        "breaks off again and again, a little further each time",
    ],
)
def test_the_whole_file_arrives_in_the_end(
    tmp_path: Path, answers: list[Answer], expected: bytes, ranges: list[str | None]
) -> None:
    with serving(*answers) as site:
        download(Download(site.url), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert (tmp_path / "package.zip").read_bytes() == expected
    assert site.ranges == ranges
    assert left(tmp_path) == ["package.zip"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "wanted", "fragment"),
    [
        ([Answer(status=404)], {}, "answers HTTP 404"),
        ([Answer(status=403)], {}, "answers HTTP 403"),
        ([Answer(status=500)], {}, "answers HTTP 500"),
        ([Answer(status=206, body=BODY)], {}, "answers HTTP 206"),
        ([Answer(BODY, cut=CUT, ranges=False)], {}, "broke off after 700,000 bytes, with 1,348,000 to come"),
        ([Answer(BODY, headers=(("Content-Encoding", "gzip"),))], {}, "the server compresses it"),
        ([Answer(BODY)], {"size": len(BODY) + 1}, "--allow-unknown"),
        ([Answer(BODY)], {"limit": 1_000}, "no published package"),
        ([Answer(BODY, length=-1)], {"limit": 1_000}, "no published package"),
        ([Answer(BODY, length=2**60)], {"limit": 2**61}, "free"),
        ([Answer(status=302, headers=(("Location", "/package.zip"),))], {}, "redirects"),
    ],
    ids=lambda value: None if isinstance(value, (list, dict)) else value,
)
def test_a_file_that_cannot_be_had_is_one_clear_error(
    tmp_path: Path, answers: list[Answer], wanted: dict[str, int], fragment: str
) -> None:
    with serving(*answers) as site, pytest.raises(BadInput, match=fragment) as raised:
        download(Download(site.url, **wanted), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert "\n" not in str(raised.value)
    assert site.url in str(raised.value)
    assert "package.zip" not in left(tmp_path)


def test_a_file_of_another_size_is_not_fetched(tmp_path: Path) -> None:
    with serving(Answer(BODY)) as site, pytest.raises(BadInput):
        download(Download(site.url, size=5), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert left(tmp_path) == []


def test_a_later_call_goes_on_where_an_earlier_one_ended(tmp_path: Path) -> None:
    to = tmp_path / "package.zip"
    with serving(Answer(BODY, cut=CUT), Answer(status=404), Answer(BODY)) as site:
        with pytest.raises(Unreachable):
            download(Download(site.url), to, quiet, NO_PAUSES)
        assert (tmp_path / "package.zip.part").read_bytes() == BODY[:CUT]
        download(Download(site.url), to, quiet, NO_PAUSES)
    assert to.read_bytes() == BODY
    assert site.ranges[-1] == f"bytes={CUT}-"


def test_what_is_left_of_another_address_is_not_continued(tmp_path: Path) -> None:
    to = tmp_path / "package.zip"
    with serving(Answer(BODY, cut=CUT), Answer(status=404)) as site, pytest.raises(Unreachable):
        download(Download(site.url), to, quiet, NO_PAUSES)
    with serving(Answer(OTHER)) as site:
        download(Download(site.url), to, quiet, NO_PAUSES)
    assert (to.read_bytes(), site.ranges) == (OTHER, [None])


@pytest.mark.parametrize("torn", ["", "{", '{"url": 1}', "[]", '"text"'])
def test_torn_notes_cost_a_fresh_start_and_nothing_else(tmp_path: Path, torn: str) -> None:
    (tmp_path / "package.zip.part").write_bytes(b"half")
    (tmp_path / "package.zip.part.json").write_text(torn)
    with serving(Answer(BODY)) as site:
        download(Download(site.url), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert ((tmp_path / "package.zip").read_bytes(), site.ranges) == (BODY, [None])


def test_a_file_that_had_arrived_when_the_process_died_is_not_asked_for_again(tmp_path: Path) -> None:
    to = tmp_path / "package.zip"
    with serving(Answer(BODY, cut=len(BODY) - 1), Answer(status=404)) as site:
        with pytest.raises(Unreachable):
            download(Download(site.url), to, quiet, NO_PAUSES)
        with (tmp_path / "package.zip.part").open("ab") as part:
            part.write(BODY[-1:])
        download(Download(site.url), to, quiet, NO_PAUSES)
    assert (to.read_bytes(), len(site.asked)) == (BODY, 2)


def test_redirects_are_followed(tmp_path: Path) -> None:
    with serving(Answer(BODY)) as site:
        moved = Answer(status=302, headers=(("Location", site.url),))
        with serving(moved) as old:
            download(Download(old.url), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert (tmp_path / "package.zip").read_bytes() == BODY


def test_the_environments_proxy_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "http://packages.invalid/package.zip"
    with serving(Answer(BODY, cut=CUT), Answer(BODY)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/package.zip"))
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        download(Download(address), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert (tmp_path / "package.zip").read_bytes() == BODY
    assert [path for path, _ in proxy.asked] == [address, address]


def test_nobody_listening_is_named_as_the_reason(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/package.zip"
        with pytest.raises(Unreachable, match="Connection refused"):
            download(Download(url), tmp_path / "package.zip", quiet, NO_PAUSES)


def test_a_name_that_does_not_resolve_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match=r"packages\.invalid/x\.zip: \S"):
        download(Download("http://packages.invalid/x.zip"), tmp_path / "x.zip", quiet, NO_PAUSES)


def test_a_full_disk_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "package.zip.part").symlink_to("/dev/full")
    with serving(Answer(BODY)) as site, pytest.raises(BadInput, match="No space left"):
        download(Download(site.url), tmp_path / "package.zip", quiet, NO_PAUSES)
    assert not (tmp_path / "package.zip").exists()


def test_progress_is_told_from_the_first_byte_to_the_last(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    with serving(Answer(BODY, cut=CUT), Answer(BODY)) as site:
        download(Download(site.url), tmp_path / "package.zip", lambda *step: told.append(step), NO_PAUSES)
    assert told[0] == ("package.zip", 0, len(BODY))
    assert told[-1] == ("package.zip", len(BODY), len(BODY))
    assert [step for step in told if step[1] == CUT] != []
