"""Zip files for the tests: the sample benchmark in the layouts of published packages, and hostile ones."""

import io
import stat
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

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
