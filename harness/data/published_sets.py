"""The published packages: their addresses, sizes and digests, and whether databases are the published ones.

The data are in `published_sets.toml`. An unknown digest is an error, unless the user allows it; then it is
reported.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
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
    """Bytes; None if unknown."""
    sha256: str | None = None
    """None if unknown."""


@dataclass(frozen=True)
class Hub:
    """Files of a data set on the Hugging Face hub, at one commit."""

    repository: str
    revision: str
    files: Mapping[str, str]
    """Path in the repository by local file name."""

    def url(self, path: str) -> str:
        """Return the file's address for a browser."""
        return f"https://huggingface.co/datasets/{self.repository}/resolve/{self.revision}/{path}"


@dataclass(frozen=True)
class PublishedPredictions:
    """Prediction files that the authors of a set published."""

    url: str
    """The address that their paths follow."""
    files: Mapping[str, str]
    """Known SHA-256 by path."""


@dataclass(frozen=True)
class Published:
    """A published question set: an archive, or files on the hub."""

    name: str
    page: str
    """Its authors' page, which describes and links it."""
    folder: str
    """Folder of its questions, below that of all published data."""
    files: Mapping[str, str]
    """Known SHA-256 by path below `folder`."""
    archive: Archive | None = None
    hub: Hub | None = None
    predictions: PublishedPredictions | None = None
    databases_of: str | None = None
    """The set whose databases its questions are about, if it has none of its own."""
    own: bool = False
    """True if it is read in its own layout, as a user's set, instead of by a built-in one."""
    databases: str = ""
    """For a set with `own` and without databases: relative path to those of the other set."""
    split: str = ""
    """For a set with `own`: which of several splits in its folder."""
    title: str = ""
    """Its name in papers; empty for that of its folder."""
    words: tuple[str, ...] = ()
    """For a set in Spider's layout: what the name of its file, or else of its folder, says."""
    key: str = ""
    """A key that only its records have."""
    released: str = ""
    """The day before which nobody can have had it, in ISO format; empty if unknown."""

    @property
    def root(self) -> str:
        """First part of `folder`, below that of all published data."""
        return self.folder.partition("/")[0]


def place_of(name: str, home: Path) -> tuple[Path, str] | None:
    """Return folder and split of a set that is read in its own layout; None for others."""
    entry = sets_by_name().get(name)
    if entry is None or not entry.own:
        return None
    return home / entry.folder, entry.split


@cache
def sets_by_name() -> Mapping[str, Published]:
    """Return every published question set by its name."""
    entries: dict[str, dict[str, Any]] = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    return {name: _entry(name, entry) for name, entry in entries.items()}


_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_USUAL = frozenset({"spider", "data", "dev", "train", "test", "others"})
"""Words in the names of files that do not tell one set in Spider's layout from another."""
_SPIDER = frozenset({"db_id", "query"})
"""Keys of records in Spider's layout."""


def set_in_spider_layout(record: Mapping[str, Any], folder: str, stem: str) -> Published | None:
    """Return the published set in Spider's layout that a file of questions is, None if unknown.

    Args:
        record: the first of the file.
        folder: the name of the set's folder.
        stem: the file's name without its suffix.
    """
    of_file, of_folder = (frozenset(map(str.casefold, _WORD.findall(name))) for name in (stem, folder))
    words = of_file - _USUAL or of_folder - _USUAL or of_folder & {"spider"}
    for entry in sets_by_name().values():
        if (entry.key and entry.key in record) or (
            entry.words and words == {*entry.words} and record.keys() >= _SPIDER
        ):
            split = next((f", {split}" for split in ("train", "test") if split in of_file), "")
            return replace(entry, title=f"{entry.title}{split}")
    return None


def title_in(manifest: Mapping[str, Any]) -> str:
    """Return the name of a run's set in papers: that of a published set, otherwise its own title or name."""
    name, found = str(manifest.get("set")), manifest.get("published") or {}
    known = name in sets_by_name() and sets_by_name()[name].title
    return str(found.get("title") or known or manifest.get("title") or name)


def page_in(manifest: Mapping[str, Any]) -> str | None:
    """Return the page where a run's set is published, None if unknown."""
    entry, found = sets_by_name().get(str(manifest.get("set"))), manifest.get("published") or {}
    return found.get("page") or (entry.page if entry else None)


def find_published(name: str) -> Published:
    """Return the entry of question set `name`.

    Raises:
        BadInput: no set of that name is published.
    """
    if name == "sample":
        raise BadInput("--set sample: it comes with bird-harness; there is nothing to fetch")
    if name not in sets_by_name():
        raise BadInput(f"--set {name}: no such set is published; choose one of {', '.join(sets_by_name())}")
    return sets_by_name()[name]


def _entry(name: str, entry: dict[str, Any]) -> Published:
    archive, hub, predictions = (entry.pop(key, None) for key in ("archive", "hub", "predictions"))
    return Published(
        name=name,
        archive=Archive(**archive) if archive else None,
        hub=Hub(**hub) if hub else None,
        predictions=PublishedPredictions(**predictions) if predictions else None,
        **entry,
    )


def repair(file: TextFile) -> str:
    """Return the remedy for a faulty file: fetch a published one again, correct any other."""
    known = {digest for each in sets_by_name().values() for digest in each.files.values()}
    return "fetch the file again" if file.sha256 in known else "correct the file"


TAKE = "if you trust it, accept it with --allow-unknown"


def prove_archive(path: Path, archive: Archive, *, allow_unknown: bool) -> tuple[str, str]:
    """Return the digest of the file `path`, and what it means.

    Raises:
        BadInput: it is not that of the published archive, and unknown ones are not allowed.
    """
    found = read_sha256(path)
    if found == archive.sha256:
        return found, f"{path}: sha256 and size are those of the published {archive.name}"
    size = path.stat().st_size
    known = f"that of {archive.name} is {archive.sha256}" if archive.sha256 else "no published one is known"
    less = f" ({size:,} of {archive.size:,} bytes)" if archive.size and size != archive.size else ""
    message = f"{path}: sha256 {found} is not known{less}: {known}"
    if not allow_unknown:
        raise BadInput(f"{message}; {TAKE}, else remove the file and fetch it again")
    return found, f"{message}; accepted because of --allow-unknown"


class Provenance(StrEnum):
    """Whether a database file is the published one, by its digest."""

    PUBLISHED = "published"
    OTHER = "other"
    """The digest is not that of the published file."""
    UNKNOWN = "unknown"
    """No published digest is known."""

    @classmethod
    def of(cls, known: str | None, found: str) -> "Provenance":
        """Return the provenance of a file with digest `found`; `known` is that of the published one."""
        if known is None:
            return cls.UNKNOWN
        return cls.PUBLISHED if known == found else cls.OTHER


def provenances(set_name: str, found: Mapping[str, str | None]) -> dict[str, Provenance] | None:
    """Return whether databases are the published ones; None for a set without published digests of any.

    Args:
        set_name: name of the question set.
        found: SHA-256 by database, None for a file that cannot be read.
    """
    entry = sets_by_name().get(set_name)
    if entry is None:
        return None
    known = sets_by_name()[entry.databases_of or set_name].files
    if not known:
        return None
    return {
        db_id: Provenance.of(known.get(f"dev_databases/{db_id}/{db_id}.sqlite"), digest or "")
        for db_id, digest in found.items()
    }


def is_unproven(databases: Mapping[str, Provenance]) -> bool:
    """Return whether a note must accompany figures on these databases.

    An unknown digest does not count against databases of which others are the published ones.
    """
    kinds = set(databases.values())
    return bool(kinds) and (Provenance.PUBLISHED not in kinds or Provenance.OTHER in kinds)


def provenance_counts(databases: Mapping[str, Provenance], *, are_named: bool = False) -> str:
    """Say how many databases are not the published ones, or are, and of how many nobody knows."""

    def names(of: Sequence[str]) -> str:
        return f" ({', '.join(of)})" if are_named else ""

    by: dict[Provenance, list[str]] = {each: [] for each in Provenance}
    for db_id, each in databases.items():
        by[each].append(db_id)
    unnamed, other = by[Provenance.UNKNOWN], by[Provenance.OTHER]
    unknown = f"; for {len(unnamed)} no published digest is known{names(unnamed)}" if unnamed else ""
    if other:
        return f"{len(other)} of {len(databases)} databases are not the published ones{names(other)}{unknown}"
    whole = f"{len(by[Provenance.PUBLISHED])} of {len(databases)}"
    return f"{whole} databases have the digests of published ones{unknown}"


def provenance_sentence(
    databases: Mapping[str, Provenance], title: str = "Mini-Dev", *, are_named: bool = True
) -> str:
    """Say in a sentence or two how a run on these databases compares with published figures."""
    words = provenance_counts(databases, are_named=are_named)
    if Provenance.OTHER not in databases.values():
        return f"{words}."
    return f"Not {title} results: {words}. Differences from published figures may be due to that alone."
