"""What is known of the published packages: where they are, how large, and which digests they have.

`published_sets.toml` beside this file holds it, as data. A digest that is not known stops what asks, unless
it was told to take it; then it is reported.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from loaders.base.digests import read_sha256
from loaders.base.files import TextFile

MANIFEST = Path(__file__).with_name("published_sets.toml")


@dataclass(frozen=True)
class Archive:
    """A zip file at its official place."""

    name: str
    url: str
    size: int | None = None
    """Bytes; None where nobody has said."""
    sha256: str | None = None
    """None where nobody has computed it."""


@dataclass(frozen=True)
class Hub:
    """Files of a data set on the Hugging Face hub, at one commit."""

    repository: str
    revision: str
    files: Mapping[str, str]
    """Path in the repository by the name that the file has here."""

    def url(self, path: str) -> str:
        """Where a browser finds the file."""
        return f"https://huggingface.co/datasets/{self.repository}/resolve/{self.revision}/{path}"


@dataclass(frozen=True)
class Published:
    """One question set as it is published: as an archive, or as files on the hub."""

    name: str
    page: str
    """Where its authors describe it and link to it."""
    folder: str
    """Where its questions go, below the folder of all published data."""
    files: Mapping[str, str]
    """Known SHA-256 by path below `folder`."""
    archive: Archive | None = None
    hub: Hub | None = None
    databases_of: str | None = None
    """The set whose databases its questions are about, where it has none of its own."""
    own: bool = False
    """Whether it is read in its own layout, as a user's set is, and not by one that comes along."""
    databases: str = ""
    """Of one that is read so and has no databases: where those of the other are, from its folder."""
    split: str = ""
    """Of one that is read so: which of several in its folder."""

    @property
    def root(self) -> str:
        """What appears in the folder of all published data."""
        return self.folder.partition("/")[0]


def place_of(name: str, home: Path) -> tuple[Path, str] | None:
    """The folder below `home`, and the split, of a set that is read in its own layout; None of others."""
    entry = published().get(name)
    if entry is None or not entry.own:
        return None
    return home / entry.folder, entry.split


@cache
def published() -> Mapping[str, Published]:
    """Every question set that is published, by its name."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    return {name: _entry(name, entry) for name, entry in entries.items()}


def find_published(name: str) -> Published:
    """The entry of question set `name`.

    Raises:
        BadInput: nothing of that name is published.
    """
    if name == "sample":
        raise BadInput("--set sample: comes with bird-harness; there is nothing to fetch")
    if name not in published():
        raise BadInput(f"--set {name}: no such set is published; choose one of {', '.join(published())}")
    return published()[name]


def _entry(name: str, entry: dict[str, Any]) -> Published:
    archive, hub = entry.pop("archive", None), entry.pop("hub", None)
    return Published(
        name=name,
        archive=Archive(**archive) if archive else None,
        hub=Hub(**hub) if hub else None,
        **entry,
    )


def repair(file: TextFile) -> str:
    """What to do about a fault of a published kind of file, which may be somebody's own."""
    known = {digest for each in published().values() for digest in each.files.values()}
    return "fetch the file again" if file.sha256 in known else "correct the file"


TAKE = "if you trust it, --allow-unknown takes it as it is"


def prove_archive(path: Path, archive: Archive, *, allow_unknown: bool) -> tuple[str, str]:
    """The digest of the file `path`, and what it means.

    Raises:
        BadInput: it is not the one of the published archive, and unknown ones are not allowed.
    """
    found = read_sha256(path)
    if found == archive.sha256:
        return found, f"{path}: sha256 and size are those of the published {archive.name}"
    size = path.stat().st_size
    known = f"that of {archive.name} is {archive.sha256}" if archive.sha256 else "nobody has named one"
    less = f" ({size:,} of {archive.size:,} bytes)" if archive.size and size != archive.size else ""
    message = f"{path}: sha256 {found} is not known{less}: {known}"
    if not allow_unknown:
        raise BadInput(f"{message}; {TAKE}, else remove the file and fetch it again")
    return found, f"{message}; taken because of --allow-unknown"
