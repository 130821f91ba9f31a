"""Where a set's files come from: the official place, an archive or a folder that the user has, the hub.

Each brings them into a folder that can be thrown away, in the layout that the published package has.
"""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock

from dialects.enums import Dialect
from dialects.errors import BadInput
from loaders.base import paths
from loaders.base.errors import command, said
from loaders.base.files import as_json, one_line
from loaders.packages.archives import DownloadProgress, Limits, Unreachable, Wanted, download, unpack
from loaders.packages.manifest import Archive, Hub, Published, prove_archive
from loaders.set_families import find_own
from loaders.set_manifest import LAYOUTS, MANIFEST, Layout

_NESTED = "*databases.zip"
"""BIRD's packages hold their databases in an archive of their own."""
_MOST_OF_OWN = 64 * 2**30
"""Bytes that a benchmark may unpack to; the databases of BIRD are 33 GB in all."""
_BESIDE = "__MACOSX"
"""What systems put into archives, and nobody reads."""
_DEPTHS = ("", "*/", "*/*/")
"""How deep in a folder its questions are looked for."""


@dataclass(frozen=True)
class Staged:
    """Files that have been brought."""

    sha256: str | None
    """Of the archive, if they come from one."""
    known: bool
    """Whether that is the published archive's, so that no file needs a proof of its own."""
    notes: tuple[str, ...]


def kept_archive(archive: Archive) -> Path:
    """Where a downloaded archive is kept."""
    return paths.cache_path() / "packages" / archive.name


def fetch(
    entry: Published,
    archive: Archive,
    progress: DownloadProgress,
    pauses: Sequence[float],
    *,
    allow_unknown: bool,
) -> Path:
    """The archive from its official place, downloaded unless an earlier call did. Processes take turns.

    Raises:
        Unreachable: it cannot be had; the message says how to bring it by hand.
        BadInput: it is not the one that is known, or there is no room for it.
    """
    path = kept_archive(archive)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):
            if not path.exists():
                wanted = Wanted(archive.url, None if allow_unknown else archive.size)
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


def from_archive(
    entry: Published, archive: Path, staging: Path, progress: DownloadProgress, *, allow_unknown: bool
) -> Staged:
    """Unpack an archive file into `staging`.

    Raises:
        BadInput: it is not known, cannot be unpacked, or does not hold the set.
    """
    known = entry.archive or Archive(archive.name, entry.page)
    digest, note = prove_archive(archive, known, allow_unknown=allow_unknown)
    tree = staging / "unpacked"
    limits = Limits(bytes=_MOST_OF_OWN) if entry.own else Limits()
    unpack(archive, tree, partial(progress, f"unpacking {archive.name}"), limits)
    for nested in sorted(tree.rglob(_NESTED)):
        unpack(nested, nested.parent, partial(progress, f"unpacking {nested.name}"), limits)
        nested.unlink()
    if entry.own:
        target = staging / "home" / entry.folder
        target.parent.mkdir(parents=True, exist_ok=True)
        _root(entry, tree, archive).rename(target)
        return Staged(digest, digest == known.sha256, (note,))
    layout = LAYOUTS[entry.name]
    questions = layout.questions[Dialect.SQLITE][0]
    held = sorted(tree.rglob(questions), key=lambda path: (len(path.parts), path))
    if not held:
        raise BadInput(one_line(f"{archive}: no {questions} in it; is it the package of {entry.name}?"))
    folder, target = held[0].parent, staging / "home" / entry.folder
    if folder.name == target.name and folder != tree:
        # What stands beside the questions' folder, the dumps above all, comes along.
        depth = len(Path(entry.folder).parts)
        for _ in range(depth - 1):
            folder, target = folder.parent, target.parent
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(target)
    return Staged(digest, digest == known.sha256, (note,))


def from_folder(entry: Published, source: Path, staging: Path) -> Staged:
    """Copy the set's files out of a folder into `staging`; links are followed.

    Raises:
        BadInput: the set is not in it, or it cannot be read.
    """
    target = staging / "home" / entry.folder
    if entry.own:
        root = _root(entry, source, source)
        shutil.copytree(root, target, ignore=shutil.ignore_patterns(_BESIDE))
        describe(entry, target)
        return Staged(None, known=False, notes=(f"copied from {root}",))
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
    return Staged(None, known=False, notes=(f"copied from {folder}",))


def _root(entry: Published, tree: Path, source: Path) -> Path:
    """The folder of a tree that is read as the set: the first one, from the outside in.

    Raises:
        BadInput: none is.
    """
    for depth in _DEPTHS:
        held = sorted(tree.glob(depth)) if depth else [tree]
        for folder in held:
            with suppress(BadInput):
                if folder.is_dir() and folder.name != _BESIDE:
                    find_own(folder / entry.split, ())
                    return folder
    raise BadInput(one_line(f"{source}: holds no questions in a layout that is known; is it {entry.name}?"))


def describe(entry: Published, folder: Path) -> None:
    """Write the manifest of a set whose databases are another's, unless there is one."""
    path = folder / MANIFEST
    if not entry.databases or path.exists():
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
    """The folder that holds the questions, and how its files are called where not as here."""
    questions = layout.questions[Dialect.SQLITE][0]
    for spelled in ({}, hub_names):
        for depth in _DEPTHS:
            for path in sorted(source.glob(depth + spelled.get(questions, questions))):
                return path.parent, spelled
    raise BadInput(f"{source}: no {questions} in it; is it the data of {entry.name}?")


def from_hub(entry: Published, hub: Hub, staging: Path) -> Staged:
    """Fetch the set's files by the hub's own client into `staging`; it resumes, and knows proxies.

    Raises:
        Unreachable: the client is not installed, or the files cannot be had.
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
        describe(entry, target)
    return Staged(None, known=False, notes=(f"from {hub.repository} at {hub.revision}",))
