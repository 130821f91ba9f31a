"""Getting a published question set: `load_set` then finds it, whole and checked, or what was there before.

Everything is prepared in a folder beside its place and read as a run would read it; then one rename puts it
there. What is there already is never replaced.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from loaders.base.digests import digests, read_sha256
from loaders.base.errors import said
from loaders.base.files import Faults
from loaders.base.paths import making
from loaders.packages.archives import PAUSES, DownloadProgress
from loaders.packages.manifest import TAKE, Published, find_published
from loaders.packages.sources import Staged, fetch, from_archive, from_folder, from_hub
from loaders.set_manifest import LAYOUTS, MANIFEST, find

_MARKER = ".published.json"
_STAGING = ".bird-data"


@dataclass(frozen=True)
class PackageRequest:
    """What to get."""

    set_name: str
    """One of `published.toml`."""
    to: Path | None = None
    """The folder of all published data; None: BIRD_HOME, else `./data`, where `load_set` looks."""
    archive: Path | None = None
    """The published archive, or a folder with the set or the archive in it; None: the official place."""
    allow_unknown: bool = False
    """Take what has other digests than those that are known, and report them."""


def get(request: PackageRequest, progress: DownloadProgress, pauses: Sequence[float] = PAUSES) -> list[str]:
    """Bring a question set with its databases; what is there already stays. Processes take turns.

    Args:
        request: what, and where to.
        progress: told how far downloads and unpacking are.
        pauses: seconds between attempts to download.

    Returns:
        What was done, a line each.

    Raises:
        BadInput: the set is not published, cannot be had, is not what was published, or does not fit
            together; the place cannot be written, or something else is there.
    """
    entry = find_published(request.set_name)
    home = request.to or Path(os.environ.get("BIRD_HOME") or "data")
    if (there := _there(entry, request, home)) is not None:
        return there
    try:
        with making(home):
            lock = home / f"{_STAGING}.lock"
            try:
                with FileLock(lock):
                    return _there(entry, request, home) or _got(entry, request, home, progress, pauses)
            finally:
                if list(home.iterdir()) == [lock]:
                    lock.unlink()
    except OSError as error:
        reason = said(error)
        raise BadInput(
            f"{home}: {entry.name} cannot be put there ({reason}); make room, or see --to"
        ) from error


def _there(entry: Published, request: PackageRequest, home: Path) -> list[str] | None:
    """What to say if the set is there.

    Raises:
        BadInput: it is there in part or does not fit together, or another one was given.
    """
    if entry.own:
        parts = [home / entry.folder] if (home / entry.folder).exists() else []
    else:
        layout = LAYOUTS[entry.name]
        questions = layout.questions[Dialect.SQLITE][0]
        parts = [home / folder for folder in layout.folders if (home / folder / questions).exists()]
    if not parts:
        return None
    try:
        found = load_set(entry.name, home)
    except BadInput as error:
        raise BadInput(
            f"{error}; {parts[0]} is in the way: move it, or choose another place by --to"
        ) from error
    if request.archive is not None and not _is_same(request.archive, home / entry.root / _MARKER):
        raise BadInput(
            f"{parts[0]}: {entry.name} is there already and was not taken from {request.archive}; move it"
            " away, or choose another place by --to"
        )
    return [f"{entry.name} is there", *prove_files(entry, found, parts[0], allow_unknown=True)]


def _is_same(archive: Path, marker: Path) -> bool:
    try:
        taken = json.loads(marker.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if archive.is_file():
        return bool(taken["sha256"] == read_sha256(archive))
    return bool(taken["source"] == str(archive.resolve()))


def _got(
    entry: Published, request: PackageRequest, home: Path, progress: DownloadProgress, pauses: Sequence[float]
) -> list[str]:
    lines = []
    place = home / entry.root
    if place.exists():
        raise BadInput(f"{place}: is in the way; move it away, or choose another place by --to")
    if entry.databases_of and not (home / _databases(entry, home)).exists():
        other = find_published(entry.databases_of)
        databases_only = PackageRequest(other.name, request.to, allow_unknown=request.allow_unknown)
        lines = _got(other, databases_only, home, progress, pauses)
    with _staging(home) as staging:
        staged = _stage(entry, request, staging, progress, pauses)
        if entry.databases_of:
            root = _databases(entry, home).parts[0]
            (staging / "home" / root).symlink_to((home / root).resolve())
        questions = load_set(entry.name, staging / "home")
        folder = request.archive or home / entry.folder
        # A known archive holds what it holds.
        proof = (
            [] if staged.known else prove_files(entry, questions, folder, allow_unknown=request.allow_unknown)
        )
        _mark(staging / "home" / entry.root, request, staged)
        (staging / "home" / entry.root).rename(place)
    return [*lines, *staged.notes, *_summary(entry, questions, request, home), *proof]


def _stage(
    entry: Published,
    request: PackageRequest,
    staging: Path,
    progress: DownloadProgress,
    pauses: Sequence[float],
) -> Staged:
    source, allowed = request.archive, request.allow_unknown
    if source is None:
        if entry.hub:
            return from_hub(entry, entry.hub, staging)
        if entry.archive is None:
            raise BadInput(
                f"{entry.name}: its authors name no address for programs; fetch it by hand"
                f" ({entry.page}), and name the archive or its folder by --archive"
            )
        fetched = fetch(entry, entry.archive, progress, pauses, allow_unknown=allowed)
        return from_archive(entry, fetched, staging, progress, allow_unknown=allowed)
    if not source.exists():
        raise BadInput(f"--archive {source}: there is no such file or folder")
    if source.is_dir() and entry.archive and (source / entry.archive.name).is_file():
        source /= entry.archive.name
    if source.is_dir():
        return from_folder(entry, source, staging)
    return from_archive(entry, source, staging, progress, allow_unknown=allowed)


def _databases(entry: Published, home: Path) -> Path:
    """Where the databases of another set are, or would be, below `home`."""
    if entry.own:
        return Path(os.path.normpath(Path(entry.folder) / entry.databases))
    try:
        return find(entry.name, home, LAYOUTS[entry.name].databases_in, "dev_databases").relative_to(home)
    except BadInput:
        return Path(find_published(str(entry.databases_of)).folder)


@contextmanager
def _staging(home: Path) -> Iterator[Path]:
    """An empty folder for the one process that holds the lock; what a dead one left is removed."""
    staging = home / _STAGING
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "home").mkdir(parents=True)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _mark(root: Path, request: PackageRequest, staged: Staged) -> None:
    source = None if request.archive is None else str(request.archive.resolve())
    text = json.dumps({"set": request.set_name, "source": source, "sha256": staged.sha256})
    (root / _MARKER).write_text(text, encoding="utf-8")


def _summary(entry: Published, questions: QuestionSet, request: PackageRequest, home: Path) -> list[str]:
    counts = f"{len(questions.questions)} questions, {len(questions.db_ids)} databases"
    lines = [f"{questions.title}: {counts}, in {home / entry.folder}"]
    return lines if request.to is None else [*lines, f"set BIRD_HOME={home} to use it"]


def prove_files(entry: Published, questions: QuestionSet, folder: Path, *, allow_unknown: bool) -> list[str]:
    """What the digests of a set's files say, a line for each that is not known.

    Args:
        entry: what is known.
        questions: the set, as it was read.
        folder: what a message calls the place of the files.
        allow_unknown: whether files that are not known are reported; else they are refused.

    Raises:
        BadInput: they are refused.
    """
    found = dict(questions.files)
    if entry.own:
        # Of its files; nobody has named digests of its databases, and a manifest is the harness's own.
        found.pop(MANIFEST, None)
    elif entry.databases_of is not None:
        found.pop(str(LAYOUTS[entry.name].tables), None)
    else:
        paths = {db_id: questions.database(db_id).sqlite_path for db_id in questions.db_ids}
        read = digests(paths.values())
        found |= {f"dev_databases/{db_id}/{path.name}": read[path] for db_id, path in paths.items()}
    unknown = {
        name: (digest, "not the published one" if name in entry.files else "not known")
        for name, digest in found.items()
        if entry.files.get(name) != digest
    }
    if not allow_unknown:
        faults = Faults(folder, "file")
        for name, (digest, fault) in unknown.items():
            faults.add(f"{name} (sha256 {digest})", f"digest {fault}", TAKE)
        faults.stop()
    return [
        f"{folder}: {len(found) - len(unknown)} of {len(found)} files have the digests of published ones",
        *(f"  {name}: sha256 {digest} is {fault}" for name, (digest, fault) in unknown.items()),
    ]
