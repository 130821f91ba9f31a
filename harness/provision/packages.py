"""Unpack Debian packages with all their dependencies into a folder, without root.

apt works as it does for the machine: it uses the configured mirror and verifies every package against the
keys that the machine trusts. Only its state is private, and empty, so that the closure is complete whatever
is installed. The suite is `unstable`, the only one that packages real MySQL.
"""

import hashlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from harness.provision.servers import say
from loaders.base import paths
from loaders.base.errors import EngineUnavailable

_SUITE = "sid"
_ARCHIVES = "cache/archives"
_KEYRINGS = (
    Path("/usr/share/keyrings/debian-archive-keyring.gpg"),
    Path("/usr/share/keyrings/debian-archive-keyring.pgp"),
)
_DEB = re.compile(r"^'[^']+' (?P<package>[^_]+)_(?:\d+%3a)?(?P<version>[^_]+)_\S+\.deb ", re.MULTILINE)


@dataclass(frozen=True)
class Root:
    """A folder laid out like a root file system."""

    folder: Path
    version: str
    """Version of the first package, without the distribution's suffix: `9.7.4`."""


def unpacked(title: str, packages: Sequence[str], *, programs: Sequence[str] = ()) -> Root:
    """Return a root with `packages` and all their dependencies, fetched on first use.

    Args:
        title: the first package's name for users, in progress and errors: `MySQL`.
        packages: names of Debian packages.
        programs: glob patterns, relative to the folder, of the programs that will be run from it. Each is
            put behind a launcher that uses the folder's own C library instead of the machine's.

    Raises:
        EngineUnavailable: apt, dpkg-deb or a mirror is missing, or a package cannot be fetched or verified.
    """
    roots = paths.cache() / "roots"
    roots.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256("\n".join([*packages, "", *programs]).encode()).hexdigest()[:12]
    with FileLock(paths.cache() / "packages.lock"):
        for known in roots.glob(f"{packages[0]}_*_{digest}"):
            return Root(known, known.name.split("_")[1])
        staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=roots))
        try:
            version = _fetch(title, packages, staging)
            tree = _unpack(title, staging)
            add_launchers(tree, programs)
            root = Root(roots / f"{packages[0]}_{version}_{digest}", version)
            tree.rename(root.folder)
        finally:
            shutil.rmtree(staging, ignore_errors=True)
    return root


def _fetch(title: str, packages: Sequence[str], staging: Path) -> str:
    """Download and verify `packages` with all dependencies; return the version of the first."""
    apt = _Apt(title, staging)
    apt.run("update")
    plan = apt.run("install", "--print-uris", *packages)
    versions = {found["package"]: found["version"] for found in _DEB.finditer(plan)}
    version = re.sub(r"[-+].*$", "", versions.get(packages[0], ""))
    say(f"unpacking {title} {version} from distribution packages ({len(versions)} packages) ...")
    apt.run("install", "--download-only", *packages)
    return version


def _unpack(title: str, staging: Path) -> Path:
    tree = staging / "root"
    tree.mkdir()
    for deb in sorted((staging / _ARCHIVES).glob("*.deb"), key=_base_files_first):
        _run(title, ["dpkg-deb", "--extract", str(deb), str(tree)])
    tree.chmod(0o755)
    return tree


def _base_files_first(deb: Path) -> tuple[bool, str]:
    """Sort `base-files` first: it has the links /bin, /lib, ... that other packages' paths may go through."""
    return not deb.name.startswith("base-files_"), deb.name


class _Apt:
    """apt-get with a private, empty state and one source."""

    def __init__(self, title: str, folder: Path) -> None:
        self.title = title
        (folder / _ARCHIVES / "partial").mkdir(parents=True)
        (folder / "state" / "lists" / "partial").mkdir(parents=True)
        status = folder / "state" / "status"
        status.touch()
        sources = folder / "sources.list"
        self.options = {
            "Dir::State": folder / "state",
            "Dir::State::status": status,
            "Dir::Cache": folder / "cache",
            # Container images turn these off, and apt would read all lists again for each command.
            "Dir::Cache::pkgcache": "pkgcache.bin",
            "Dir::Cache::srcpkgcache": "srcpkgcache.bin",
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::Etc::preferences": "/dev/null",
            "Dir::Etc::preferencesparts": "/dev/null",
            "APT::Default-Release": "",
            "APT::Update::Error-Mode": "any",
            "APT::Get::AllowUnauthenticated": "false",
            "APT::Install-Recommends": "false",
            "Acquire::AllowInsecureRepositories": "false",
            "Acquire::Languages": "none",
            "Acquire::Retries": "3",
        }
        for part in (folder, folder / "cache", folder / _ARCHIVES):
            part.chmod(0o755)  # apt downloads under its own account instead of root
        sources.touch(mode=0o600)
        sources.write_text(_source(title), encoding="utf-8")

    def run(self, command: str, *arguments: str) -> str:
        options = [f"--option={name}={value}" for name, value in self.options.items()]
        return _run(self.title, ["apt-get", "--quiet=2", "--yes", *options, command, *arguments])


def _source(title: str) -> str:
    """Return the only line of the private sources list."""
    architecture = _run(title, ["dpkg", "--print-architecture"]).strip()
    keyring = next((path for path in _KEYRINGS if path.exists()), None)
    options = f"arch={architecture} targets=Packages" + (f" signed-by={keyring}" if keyring else "")
    return f"deb [{options}] {_mirror(title)} {_SUITE} main\n"


def _mirror(title: str) -> str:
    """Return the address of the Debian mirror that the machine is configured for."""
    known = _addresses(title, "$(REPO_URI) $(LABEL)")
    labelled = [address for address, label in known if label == "Debian"]
    if labelled:
        return labelled[0]
    # Labels come with the package lists; a slim image has sources but no lists yet.
    listed = [] if known else _addresses(title, "$(REPO_URI) $(RELEASE)", "--no-release-info")
    for address, release in listed:
        if not release.endswith("-security"):
            return address
    raise _unavailable(title, "apt is configured for no Debian mirror")


def _addresses(title: str, wanted: str, *options: str) -> list[tuple[str, str]]:
    """Return the address of each apt source, with one more field."""
    said = _run(title, ["apt-get", "indextargets", *options, "--format", wanted])
    pairs = (line.partition(" ") for line in said.splitlines() if not line.startswith("cdrom:"))
    return [(address, rest) for address, _, rest in pairs]


def _run(title: str, command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
        )
    except FileNotFoundError:
        raise _unavailable(title, f"{command[0]} was not found") from None
    if done.returncode != 0:
        complaints = [line for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in complaints if line.startswith("E: ")] or complaints
        reason = errors[0] if errors else f"exit code {done.returncode}"
        raise _unavailable(title, f"{command[0]}: {reason}")
    return done.stdout


def _unavailable(title: str, reason: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"{title} could not be unpacked from distribution packages: {reason}; install {title} on this "
        f"machine, use Docker, or name a running server in BIRD_{title.upper()}_DSN"
    )


_LOADERS = ("usr/lib64/ld-linux-*.so.*", "usr/lib/ld-linux-*.so.*", "usr/lib/*/ld-linux-*.so.*")

# Programs were linked for their own C library, often newer than the machine's. A launcher in a program's
# place starts it through the unpacked dynamic loader, so that programs that start each other by path (initdb
# starts postgres) find launchers, too.
# `0` is the path that the program was called by: what lies before its last /usr/ is the root, wherever the
# folder has been moved to. LOCPATH: the machine may have no locale that this C library can read.
_LAUNCHER = """\
#!/bin/sh
root=${{0%/usr/*}}
export LOCPATH="$root/usr/lib/locale"
exec "$root/{loader}" --library-path "{libraries}" --argv0 "$0" "$0.program" "$@"
"""


def add_launchers(root: Path, programs: Iterable[str]) -> None:
    """Put each program that matches a pattern of `programs` behind a launcher.

    Args:
        root: the unpacked root file system.
        programs: glob patterns relative to `root`, somewhere below its `usr`.

    Raises:
        EngineUnavailable: a pattern matches nothing, or the root has no dynamic loader.
    """
    for pattern in programs:
        loader = _first(root, _LOADERS)
        libraries = [path for path in root.glob("usr/lib/*-linux-gnu*") if path.is_dir()]
        found = list(root.glob(pattern))
        if loader is None or not found:
            missing = "its dynamic loader" if loader is None else pattern
            raise EngineUnavailable(
                f"the unpacked packages lack {missing}; install the server on this machine or use Docker"
            )
        text = _LAUNCHER.format(
            loader=loader.relative_to(root),
            libraries=":".join(f"$root/{path.relative_to(root)}" for path in libraries),
        )
        for program in found:
            program.rename(program.with_name(program.name + ".program"))
            program.write_text(text, encoding="utf-8")
            program.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)


def _first(root: Path, patterns: Sequence[str]) -> Path | None:
    return next((path for pattern in patterns for path in sorted(root.glob(pattern))), None)
