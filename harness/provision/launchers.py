"""Programs of an unpacked root file system that run on whatever machine they lie on.

They were linked for their own C library, often newer than the machine's. A launcher in the program's place
starts it through the dynamic loader that was unpacked beside it, so that programs that start each other by
path (initdb starts postgres) find launchers as well.
"""

import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from loaders.errors import EngineUnavailable

_LOADERS = ("usr/lib64/ld-linux-*.so.*", "usr/lib/ld-linux-*.so.*", "usr/lib/*/ld-linux-*.so.*")

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
