"""Fetch a published question set, so that `load_set` finds it complete and checked.

Everything is prepared in a folder beside the target and read as a run would read it; then one rename installs
it. Existing files are never replaced.

Files come from the official address, from a user's archive or folder, or from the hub, and get the layout of
the published package.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.published_sets import (
    TAKE,
    Archive,
    Hub,
    Published,
    PublishedPredictions,
    find_published,
    prove_archive,
    sets_by_name,
)
from harness.data.questions import QuestionSet
from harness.data.set_families import find_own
from harness.data.set_manifest import LAYOUTS, MANIFEST, Layout, find
from harness.data.sets.archives import (
    PAUSES,
    Download,
    DownloadProgress,
    UnpackLimits,
    Unreachable,
    download,
    unpack,
)
from harness.data.sets.loader import load_set
from loaders.base import paths
from loaders.base.digests import digests, read_sha256
from loaders.base.errors import command, said
from loaders.base.files import Faults, as_json, one_line, parse_json
from loaders.base.paths import making

PREDICTIONS = "predictions"
"""Folder of published prediction files, below that of all published data."""
_MARKER = ".published.json"
_STAGING = ".bird-data"


_NESTED = "*databases.zip"
"""BIRD's packages hold their databases in a nested archive."""
_MOST_OF_OWN = 64 * 2**30
"""Bytes that a benchmark may unpack to; the databases of BIRD are 33 GB in all."""
_BESIDE = "__MACOSX"
"""Metadata that macOS adds to archives."""
_DEPTHS = ("", "*/", "*/*/")
"""How deep in a folder questions are searched for."""


@dataclass(frozen=True)
class PackageRequest:
    """A request for a published set."""

    set_name: str
    """One of `published_sets.toml`."""
    to: Path | None = None
    """Folder of all published data; default: BIRD_HOME, else `./data`, where `load_set` looks."""
    archive: Path | None = None
    """The published archive, or a folder with the set or the archive in it; default: the official address."""
    allow_unknown: bool = False
    """Accept files with unknown digests, and report them."""


@dataclass(frozen=True)
class _Staged:
    sha256: str | None
    """SHA-256 of the archive, if they come from one."""
    is_known: bool
    """True if it is the published archive, so that its files need no further proof."""
    notes: tuple[str, ...]


def get(request: PackageRequest, progress: DownloadProgress, pauses: Sequence[float] = PAUSES) -> list[str]:
    """Fetch a question set with its databases; existing files are kept. Processes take turns.

    Args:
        request: the set, and where to put it.
        progress: called with the progress of downloads and unpacking.
        pauses: seconds between attempts to download.

    Returns:
        What was done, line by line.

    Raises:
        BadInput: the set is not published, cannot be fetched, is not what was published, or does not fit
        together; the target cannot be written, or is occupied.
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


def get_predictions(
    request: PackageRequest, progress: DownloadProgress, pauses: Sequence[float] = PAUSES
) -> list[str]:
    """Fetch the published prediction files of a set into `predictions`; existing files are kept.

    They are downloaded, or copied from `request.archive`, a folder that has them at any depth. All are put
    there or none. The rest is as for `get`.

    Raises:
        BadInput: no predictions of the set are published, or a file cannot be fetched, is not the published
        one, or cannot be written.
    """
    entry = find_published(request.set_name)
    if entry.predictions is None:
        known = ", ".join(name for name, each in sets_by_name().items() if each.predictions)
        raise BadInput(f"--set {entry.name}: no prediction files of it are published; those of {known} are")
    home = request.to or Path(os.environ.get("BIRD_HOME") or "data")
    folder = home / PREDICTIONS
    wanted = {Path(path).name: path for path in entry.predictions.files}
    missing = [name for name in wanted if not (folder / name).exists()]
    try:
        with making(folder), FileLock(home / f"{_STAGING}.lock"), _staging(home) as staging:
            for name in missing:
                _bring(entry.predictions, wanted[name], request.archive, staging / name, progress, pauses)
            places = {name: (staging if name in missing else folder) / name for name in wanted}
            notes = _prove_predictions(entry.predictions, places, folder, allow_unknown=request.allow_unknown)
            for name in missing:
                (staging / name).rename(folder / name)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written ({said(error)}); make room, or see --out") from error
    already = (
        f", {len(wanted) - len(missing)} of them were there already" if len(missing) < len(wanted) else ""
    )
    return [f"{entry.name}: {len(wanted)} published prediction files in {folder}{already}", *notes]


def _bring(  # noqa: PLR0913, PLR0917 - what to fetch, from where and to where
    published_files: PublishedPredictions,
    path: str,
    source: Path | None,
    to: Path,
    progress: DownloadProgress,
    pauses: Sequence[float],
) -> None:
    """Download a published file, or copy it from a folder.

    Raises:
        Unreachable: it cannot be downloaded; the message says how to fetch it by hand.
        BadInput: it is not in the folder.
    """
    if source is None:
        try:
            download(Download(f"{published_files.url}/{path}"), to, progress, pauses)
        except Unreachable as error:
            raise Unreachable(
                f"{error}; get the files by any other way and name their folder with --archive;"
                " behind a proxy, set HTTPS_PROXY"
            ) from error
        return
    if not source.is_dir():
        raise BadInput(f"--archive {source}: is not a folder; name the one that has the prediction files")
    found = next((one for one in sorted(source.rglob(to.name)) if one.is_file()), None)
    if found is None:
        raise BadInput(f"--archive {source}: has no {to.name}")
    shutil.copyfile(found, to)


def _prove_predictions(
    published_files: PublishedPredictions, places: Mapping[str, Path], folder: Path, *, allow_unknown: bool
) -> list[str]:
    """Check the digests of prediction files, and return a line for each that is not the published one.

    Raises:
        BadInput: there are such, and they are not allowed.
    """
    known = {Path(path).name: digest for path, digest in published_files.files.items()}
    other = [name for name, place in places.items() if read_sha256(place) != known[name]]
    if not allow_unknown:
        faults = Faults(folder, "file")
        for name in other:
            faults.add(name, "is not the published one, by its SHA-256", TAKE)
        faults.stop()
    return [f"  {name}: is not the published one, by its SHA-256" for name in other]


def _there(entry: Published, request: PackageRequest, home: Path) -> list[str] | None:
    """Return what to report if the set is already there.

    Raises:
        BadInput: it is incomplete or does not fit together, or another one was given.
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
        found.require_databases()
    except BadInput as error:
        raise BadInput(
            f"{error}; {parts[0]} is in the way: move it, or choose another folder with --to"
        ) from error
    if request.archive is not None and not _is_same(request.archive, home / entry.root / _MARKER):
        raise BadInput(
            f"{parts[0]}: {entry.name} is there already and was not taken from {request.archive}; move it"
            " away, or choose another place by --to"
        )
    return [f"{entry.name} is there", *prove_files(entry, found, parts[0], allow_unknown=True)]


def _is_same(archive: Path, marker: Path) -> bool:
    try:
        taken = parse_json(marker.read_text(encoding="utf-8"))
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
        raise BadInput(f"{place}: already exists; move it away, or choose another folder with --to")
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
        questions.require_databases()
        folder = request.archive or home / entry.folder
        # A known archive has known content.
        proof = (
            []
            if staged.is_known
            else prove_files(entry, questions, folder, allow_unknown=request.allow_unknown)
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
) -> _Staged:
    source, allowed = request.archive, request.allow_unknown
    if source is None:
        if entry.hub:
            return _from_hub(entry, entry.hub, staging)
        if entry.archive is None:
            raise BadInput(
                f"{entry.name}: its authors name no address for programs; fetch it by hand"
                f" ({entry.page}), and name the archive or its folder by --archive"
            )
        fetched = _fetch(entry, entry.archive, progress, pauses, allow_unknown=allowed)
        return _from_archive(entry, fetched, staging, progress, allow_unknown=allowed)
    if not source.exists():
        raise BadInput(f"--archive {source}: there is no such file or folder")
    if source.is_dir() and entry.archive and (source / entry.archive.name).is_file():
        source /= entry.archive.name
    if source.is_dir():
        return _from_folder(entry, source, staging)
    return _from_archive(entry, source, staging, progress, allow_unknown=allowed)


def _databases(entry: Published, home: Path) -> Path:
    """Return where the databases of another set are, or would be, below `home`."""
    if entry.own:
        return Path(os.path.normpath(Path(entry.folder) / entry.databases))
    try:
        return find(entry.name, home, LAYOUTS[entry.name].databases_in, "dev_databases").relative_to(home)
    except BadInput:
        return Path(find_published(str(entry.databases_of)).folder)


@contextmanager
def _staging(home: Path) -> Iterator[Path]:
    """Provide an empty folder for the process that holds the lock; remains of a dead one are removed."""
    staging = home / _STAGING
    shutil.rmtree(staging, ignore_errors=True)
    (staging / "home").mkdir(parents=True)
    try:
        yield staging
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _mark(root: Path, request: PackageRequest, staged: _Staged) -> None:
    source = None if request.archive is None else str(request.archive.resolve())
    text = as_json({"set": request.set_name, "source": source, "sha256": staged.sha256})
    (root / _MARKER).write_text(text, encoding="utf-8")


def _summary(entry: Published, questions: QuestionSet, request: PackageRequest, home: Path) -> list[str]:
    counts = f"{len(questions.questions)} questions, {len(questions.db_ids)} databases"
    lines = [f"{questions.title}: {counts}, in {home / entry.folder}"]
    return lines if request.to is None else [*lines, f"set BIRD_HOME={home} to use it"]


def prove_files(entry: Published, questions: QuestionSet, folder: Path, *, allow_unknown: bool) -> list[str]:
    """Check the digests of a set's files, and return a line for each unknown one.

    Args:
        entry: the published set.
        questions: the set as read.
        folder: the files' folder, for messages.
        allow_unknown: report unknown files instead of refusing them.

    Raises:
        BadInput: they are refused.
    """
    found = dict(questions.files)
    if entry.own:
        # Databases have no published digests, and the manifest is the harness's own.
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


def archive_path(archive: Archive) -> Path:
    """Return where a downloaded archive is kept."""
    return paths.cache_path() / "packages" / archive.name


def _fetch(
    entry: Published,
    archive: Archive,
    progress: DownloadProgress,
    pauses: Sequence[float],
    *,
    allow_unknown: bool,
) -> Path:
    """Return the archive from its official address, downloaded unless it is cached. Processes take turns.

    Raises:
        Unreachable: it cannot be fetched; the message says how to fetch it by hand.
        BadInput: it is not the known one, or there is no room for it.
    """
    path = archive_path(archive)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.exists():
                wanted = Download(archive.url, None if allow_unknown else archive.size)
                download(wanted, path, progress, pauses)
    except Unreachable as error:
        raise Unreachable(f"{error}; {_by_hand(entry, path)}") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({said(error)}); set BIRD_CACHE") from error
    return path


def _by_hand(entry: Published, path: Path) -> str:
    run = command("data", rest="--archive FILE", set=entry.name)
    return (
        f"fetch it by any other way (its page: {entry.page}) and run `{run}`, or put it at {path};"
        " behind a proxy, set HTTPS_PROXY"
    )


def _from_archive(
    entry: Published, archive: Path, staging: Path, progress: DownloadProgress, *, allow_unknown: bool
) -> _Staged:
    """Unpack an archive file into `staging`.

    Raises:
        BadInput: it is unknown, cannot be unpacked, or does not contain the set.
    """
    known = entry.archive or Archive(archive.name, entry.page)
    digest, note = prove_archive(archive, known, allow_unknown=allow_unknown)
    tree = staging / "unpacked"
    limits = UnpackLimits(bytes=_MOST_OF_OWN) if entry.own else UnpackLimits()
    unpack(archive, tree, partial(progress, f"unpacking {archive.name}"), limits)
    for nested in sorted(tree.rglob(_NESTED)):
        unpack(nested, nested.parent, partial(progress, f"unpacking {nested.name}"), limits)
        nested.unlink()
    if entry.own:
        target = staging / "home" / entry.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        _root(entry, tree, archive).rename(target)
        return _Staged(digest, digest == known.sha256, (note,))
    layout = LAYOUTS[entry.name]
    questions = layout.questions[Dialect.SQLITE][0]
    held = sorted(tree.rglob(questions), key=lambda path: (len(path.parts), path))
    if not held:
        raise BadInput(one_line(f"{archive}: no {questions} in it; is it the package of {entry.name}?"))
    folder, target = held[0].parent, staging / "home" / entry.folder
    if folder.name == target.name and folder != tree:
        # Keep what is beside the questions' folder, above all the dumps.
        depth = len(Path(entry.folder).parts)
        for _ in range(depth - 1):
            folder, target = folder.parent, target.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(target)
    return _Staged(digest, digest == known.sha256, (note,))


def _from_folder(entry: Published, source: Path, staging: Path) -> _Staged:
    """Copy the set's files out of a folder into `staging`; links are followed.

    Raises:
        BadInput: the set is not in it, or it cannot be read.
    """
    target = staging / "home" / entry.folder
    if entry.own:
        root = _root(entry, source, source)
        shutil.copytree(root, target, ignore=shutil.ignore_patterns(_BESIDE))
        _describe(entry, target)
        return _Staged(None, is_known=False, notes=(f"copied from {root}",))
    layout = LAYOUTS[entry.name]
    target.mkdir(parents=True)
    hub_names = {name: Path(path).name for name, path in entry.hub.files.items()} if entry.hub else {}
    names = [*(name for (name,) in layout.questions.values()), *layout.gold.values(), str(layout.tables)]
    folder, spelled = _holder(entry, source, layout, hub_names)
    for name in names:
        path = folder / spelled.get(name, name)
        if path.is_file():
            shutil.copyfile(path, target / name)
    if entry.databases_of is None and (folder / "dev_databases").is_dir():
        shutil.copytree(folder / "dev_databases", target / "dev_databases")
    return _Staged(None, is_known=False, notes=(f"copied from {folder}",))


def _root(entry: Published, tree: Path, source: Path) -> Path:
    """Return the first folder of a tree that can be read as the set, from the outside in.

    Raises:
        BadInput: there is none.
    """
    for depth in _DEPTHS:
        held = sorted(tree.glob(depth)) if depth else [tree]
        for folder in held:
            with suppress(BadInput):
                if folder.is_dir() and folder.name != _BESIDE:
                    find_own(folder / entry.split, ())
                    return folder
    raise BadInput(one_line(f"{source}: no questions in a known layout; is it {entry.name}?"))


def _describe(entry: Published, folder: Path) -> None:
    """Write the manifest of a set whose databases are another's, unless there is one or none is needed."""
    path = folder / MANIFEST
    if not entry.databases or entry.words or path.exists():
        return
    names = sorted(one.name for one in folder.iterdir() if one.suffix in {".json", ".jsonl"})
    wanted = [name for name in (entry.hub.files if entry.hub else ()) if name in names] or names[:1]
    lines = [
        f"name = {as_json(entry.name)}",
        f"title = {as_json(f'{entry.name}, of {entry.page}')}",
        f"questions = {as_json(wanted)}",
        f"databases = {as_json(entry.databases)}",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _holder(
    entry: Published, source: Path, layout: Layout, hub_names: dict[str, str]
) -> tuple[Path, dict[str, str]]:
    """Return the folder with the questions, and the names of files that differ from the local ones."""
    questions = layout.questions[Dialect.SQLITE][0]
    for spelled in ({}, hub_names):
        for depth in _DEPTHS:
            for path in sorted(source.glob(depth + spelled.get(questions, questions))):
                return path.parent, spelled
    raise BadInput(f"{source}: no {questions} in it; is it the data of {entry.name}?")


def _from_hub(entry: Published, hub: Hub, staging: Path) -> _Staged:
    """Fetch the set's files with the hub's client into `staging`; it resumes, and supports proxies.

    Raises:
        Unreachable: the client is not installed, or the files cannot be fetched.
    """
    urls = ", ".join(hub.url(path) for path in hub.files.values())
    run = command("data", rest="--archive FOLDER", set=entry.name)
    by_hand = f"or fetch {urls} into one folder and run `{run}`"
    try:
        from huggingface_hub import hf_hub_download  # noqa: PLC0415 - an extra
        from huggingface_hub.utils.tqdm import disable_progress_bars  # noqa: PLC0415
    except ImportError as error:
        raise Unreachable(
            f"{entry.name} is on the Hugging Face hub: install its client, the extra [hf], {by_hand}"
        ) from error
    disable_progress_bars()
    target = staging / "home" / entry.folder
    target.mkdir(parents=True)
    for name, path in hub.files.items():
        try:
            fetched = hf_hub_download(
                hub.repository, path, repo_type="dataset", revision=hub.revision, local_dir=staging / "hub",
                token=False,
            )  # fmt: skip
        except Exception as error:
            reason = str(error).strip().partition("\n")[0]
            raise Unreachable(one_line(f"{hub.url(path)}: {reason}; try again, {by_hand}")) from error
        shutil.copyfile(fetched, target / name)
    if entry.own:
        _describe(entry, target)
    return _Staged(None, is_known=False, notes=(f"from {hub.repository} at {hub.revision}",))
