"""Nothing of a hostile or damaged archive is written outside its folder, and most of it not at all."""

import io
import os
import shutil
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialects.errors import BadInput
from harness.data.sets.archives import UnpackLimits, unpack
from tests.harness.data.sets.packages.fetched import DEVICE, FIFO, LINK, contents, encrypted, entry, zipped

BOMB = bytes(4 * 2**20)
GOOD = zipped(("a/", b""), ("a/b.txt", b"one"), ("c.txt", os.urandom(5_000)))
SMALL = zipped(("a/", b""), ("a/b.txt", b"one" * 9), ("c.txt", b"two"))


def quiet(done: int, total: int) -> None:
    pass


def packed(name: str, content: bytes, method: int) -> bytes:
    """An archive whose only entry is compressed by a method."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def damaged(raw: bytes, at: int) -> bytes:
    return raw[:at] + bytes([raw[at] ^ 0xFF]) + raw[at + 1 :]


def declared_larger(raw: bytes) -> bytes:
    """The last entry claims to unpack to ten times what it does."""
    at = raw.rindex(b"PK\x01\x02") + 24
    [size] = struct.unpack_from("<I", raw, at)
    return raw[:at] + struct.pack("<I", size * 10) + raw[at + 4 :]


HOSTILE = {
    "up": (zipped((entry("../evil"), b"x")), "leads out"),
    "up inside": (zipped((entry("a/../../evil"), b"x")), "leads out"),
    "absolute": (zipped((entry("/evil"), b"x")), "absolute"),
    "drive": (zipped((entry("C:/evil"), b"x")), "absolute"),
    "backslashes": (zipped((entry("..\\evil"), b"x")), "read differently"),
    "nul": (zipped((entry("good\0../evil"), b"x")), "read differently|leads out"),
    "line break": (zipped((entry("a\nb"), b"x")), "read differently"),
    "empty part": (zipped((entry("a//b"), b"x")), "read differently"),
    "dot": (zipped((entry("a/./b"), b"x")), "read differently"),
    "no name": (zipped((entry(""), b"x")), "read differently"),
    "long name": (zipped((entry("n" * 300), b"x")), "too long"),
    "link": (zipped((entry("link", LINK), b"/etc/passwd"), ("link/x", b"x")), "is a link"),
    "fifo": (zipped((entry("pipe", FIFO), b"")), "neither a file nor a folder"),
    "device": (zipped((entry("null", DEVICE), b"")), "neither a file nor a folder"),
    "twice": (zipped((entry("a"), b"x"), (entry("a"), b"y")), "occurs twice"),
    "file and folder": (zipped((entry("a"), b"x"), (entry("a/"), b"")), "occurs twice"),
    "inside a file": (zipped((entry("a"), b"x"), (entry("a/b"), b"y")), "inside a file"),
    "folder with content": (zipped((entry("a/"), b"x")), "a folder with content"),
    "LZMA": (packed("a", bytes(5_000), zipfile.ZIP_LZMA), "another method than deflate"),
    "LZMA with a dictionary of 4 GiB": (
        # The bytes before it: version, length of the properties, and the properties' first byte.
        packed("a", os.urandom(5_000), zipfile.ZIP_LZMA).replace(
            b"\x05\0\x5d\0\0\x80\0", b"\x05\0\x5d\xff\xff\xff\xff"
        ),
        "another method than deflate",
    ),
    "bzip2": (packed("a", bytes(5_000), zipfile.ZIP_BZIP2), "another method than deflate"),
    "unknown method": (
        zipped(("a", b"x")).replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x61\0"),
        "another method than deflate",
    ),
    "encrypted": (encrypted("a", b"secret"), "encrypted"),
    "bomb by ratio": (zipped(("a", BOMB)), "over 100 times its size"),
    "many bombs": (zipped(*((f"{n}", BOMB[: 2**18]) for n in range(50))), "over 100 times its size"),
    "truncated": (GOOD[:-30], "damaged, or not a zip file"),
    "cut in half": (GOOD[: len(GOOD) // 2], "damaged, or not a zip file"),
    "empty file": (b"", "damaged, or not a zip file"),
    "a web page": (b"<!DOCTYPE html><title>Log in</title>", "damaged, or not a zip file"),
    "flipped bit": (damaged(GOOD, GOOD.rindex(b"c.txt", 0, GOOD.index(b"PK\x01\x02")) + 1_000), "damaged"),
    "larger than it is": (declared_larger(GOOD), "damaged|directory says"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_or_damaged_archive_is_refused(tmp_path: Path, name: str) -> None:
    raw, fragment = HOSTILE[name]
    archive, folder = tmp_path / "package.zip", tmp_path / "deep" / "deeper"
    archive.write_bytes(raw)
    with pytest.raises(BadInput, match=fragment) as raised:
        unpack(archive, folder, quiet)
    assert str(raised.value).startswith(f"{archive}: ")
    assert "\n" not in str(raised.value)
    outside = [path for path in tmp_path.rglob("*") if folder not in {path, *path.parents}]
    assert sorted(outside) == sorted({archive, folder.parent} & set(outside))
    assert [path for path in tmp_path.rglob("*") if path.is_symlink() or path.is_fifo()] == []


@pytest.mark.parametrize(
    ("limits", "fragment"),
    [
        (UnpackLimits(entries=2), "has 3 entries, over 2"),
        (UnpackLimits(bytes=5_002), "unpacks to 5,003 bytes, over 5,002"),
        (UnpackLimits(ratio=0), "over 0 times its size"),
    ],
    ids=["entries", "bytes", "ratio"],
)
def test_nothing_is_written_of_what_is_too_much(tmp_path: Path, limits: UnpackLimits, fragment: str) -> None:
    archive = tmp_path / "package.zip"
    archive.write_bytes(GOOD)
    with pytest.raises(BadInput, match=fragment):
        unpack(archive, tmp_path / "to", quiet, limits)
    assert not (tmp_path / "to").exists()


def test_what_does_not_fit_on_the_disk_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "package.zip"
    archive.write_bytes(GOOD)
    room = shutil.disk_usage(tmp_path)._replace(free=5_002)
    monkeypatch.setattr("shutil.disk_usage", lambda _: room)
    with pytest.raises(BadInput, match="5,003 bytes, but"):
        unpack(archive, tmp_path / "to", quiet)
    assert contents(tmp_path / "to") == {}


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    archive = tmp_path / "package.zip"
    archive.write_bytes(GOOD)
    (tmp_path / "to" / "a").mkdir(parents=True)
    (tmp_path / "to" / "a" / "b.txt").write_bytes(b"mine")
    with pytest.raises(BadInput, match="File exists"):
        unpack(archive, tmp_path / "to", quiet)
    assert (tmp_path / "to" / "a" / "b.txt").read_bytes() == b"mine"


def test_a_good_archive_is_unpacked_without_what_finder_adds(tmp_path: Path) -> None:
    archive = tmp_path / "package.zip"
    archive.write_bytes(
        zipped(("a/b.txt", b"one"), ("ä.txt", b"two"), ("__MACOSX/a/._b.txt", b"x"), ("a/.DS_Store", b"x"))
    )
    told: list[tuple[int, int]] = []
    done = unpack(archive, tmp_path / "to", lambda *step: told.append(step))
    assert contents(tmp_path / "to") == {"a/b.txt": b"one", "ä.txt": b"two"}
    assert (done.entries, done.bytes, told[-1]) == (2, 6, (6, 6))


names = st.lists(st.sampled_from(["a", "b", "..", ".", "", "\\", "C:", "é"]), min_size=1, max_size=4).map(
    "/".join
)


@given(st.lists(names, min_size=1, max_size=4))
def test_whatever_the_names_are_all_entries_are_inside_or_none_is(
    tmp_path_factory: pytest.TempPathFactory, given_names: list[str]
) -> None:
    base = tmp_path_factory.mktemp("names")
    archive, folder = base / "package.zip", base / "deep" / "to"
    archive.write_bytes(zipped(*((entry(name), b"x" * 20) for name in given_names)))
    try:
        unpack(archive, folder, quiet)
    except BadInput:
        assert not folder.exists()
    else:
        with zipfile.ZipFile(archive) as opened:
            assert set(contents(folder)) == {one.filename for one in opened.infolist() if not one.is_dir()}
    assert {path.name for path in base.iterdir()} <= {"package.zip", "deep"}
    assert not (base / "deep").exists() or {path.name for path in (base / "deep").iterdir()} == {"to"}


@given(at=st.integers(0, len(SMALL) - 1), byte=st.integers(0, 255))
def test_one_wrong_byte_anywhere_gives_no_wrong_file(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    base = tmp_path_factory.mktemp("flipped")
    (base / "package.zip").write_bytes(SMALL[:at] + bytes([byte]) + SMALL[at + 1 :])
    try:
        unpack(base / "package.zip", base / "to", quiet)
    except BadInput:
        return
    assert set(contents(base / "to").values()) <= {b"one" * 9, b"two"}
