"""Archives for the tests, and how they fetch packages, here or in a process that can be killed.

As `python -m` with arguments it gets a set by a manifest of the test's own. It says `there` when something
has got as far as asked for, and then waits to be killed; 0 for never.
"""

import io
import os
import stat
import subprocess
import sys
import time
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

from harness.data import published_sets as manifest
from harness.data.sets.packages import PackageRequest, get
from loaders.sample import sample_folder

LINK = stat.S_IFLNK | 0o777
FIFO = stat.S_IFIFO | 0o644
DEVICE = stat.S_IFCHR | 0o644


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    """An entry with a name and a kind that `zipfile` would not write by itself."""
    made = zipfile.ZipInfo("name")
    made.filename = name
    made.external_attr = mode << 16
    made.compress_type = zipfile.ZIP_DEFLATED
    return made


def zipped(*entries: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    """A zip file with these entries as they are."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.filterwarnings("ignore", "Duplicate name")
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def encrypted(name: str, content: bytes) -> bytes:
    """A zip file whose one entry says that it is encrypted."""
    raw = bytearray(zipped((name, content)))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(signature) + flags] |= 0x1
    return bytes(raw)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def renamed(sample: Path, name: str) -> dict[str, bytes]:
    """The sample's files as those of another question set are called."""
    names = {"sample_tables.json": "dev_tables.json"}
    if name == "dev":
        names |= {"sample_sqlite.json": "dev.json", "sample_sqlite_gold.sql": "dev.sql"}
    found: dict[str, bytes] = {}
    for path, content in contents(sample).items():
        plain = path.replace("sample_", "mini_dev_") if name != "dev" else path
        found[names.get(path, plain)] = content
    return {path: content for path, content in found.items() if not path.startswith("sample_")}


def mini_dev_zip(sample: Path) -> bytes:
    """The sample as Mini-Dev's archive, with a dump beside the questions' folder and what Finder adds."""
    files = {f"minidev/MINIDEV/{path}": content for path, content in renamed(sample, "mini_dev").items()}
    files["minidev/MINIDEV_mysql/BIRD_dev.sql"] = b"-- a dump\n"
    files["__MACOSX/minidev/._MINIDEV"] = b"x"
    files["minidev/.DS_Store"] = b"x"
    return _plain(files)


def dev_zip(sample: Path, top: str = "dev_20240627/") -> bytes:
    """The sample as BIRD dev's archive: the databases are an archive in the archive."""
    files = renamed(sample, "dev")
    databases = {path: content for path, content in files.items() if path.startswith("dev_databases/")}
    rest = {f"{top}{path}": content for path, content in files.items() if path not in databases}
    return _plain(rest | {f"{top}dev_databases.zip": _plain(databases)})


def _plain(files: Mapping[str, bytes]) -> bytes:
    return zipped(*files.items())


NO_PAUSES = (0.0,)


NOWHERE = "http://127.0.0.1:9/package.zip"
"""The discard port, where nobody listens."""


def quiet(what: str, done: int, total: int | None) -> None:
    pass


def shown(home: Path) -> list[str]:
    """What is in the folder of all data, but for the lock."""
    return sorted(path.name for path in home.iterdir() if path.suffix != ".lock") if home.exists() else []


def unpacked(folder: Path, name: str) -> Path:
    for path, content in renamed(sample_folder(), name).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def process(
    manifest: Path, name: str, home: Path, what: str = "", stop: int = 0, *options: str
) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.harness.data.sets.packages.fetched"]
    command += [str(manifest), name, str(home), what, str(stop), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)


def main(arguments: list[str]) -> None:
    path, name, to, what, stop, *options = arguments
    manifest.MANIFEST = Path(path)

    def stall(now: str, done: int, _: int | None) -> None:
        if what in now and done >= int(stop) > 0:
            sys.stdout.write("there\n")
            sys.stdout.flush()
            time.sleep(600)

    for line in get(PackageRequest(name, Path(to), allow_unknown="unknown" in options), stall, (0.1, 0.1)):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
