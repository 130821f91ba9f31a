"""What `bird-harness cache` says about the store."""

import time
from pathlib import Path

from loaders.base.store import EntryKind, StoreStatistics

_NAMES = {
    EntryKind.EXECUTION: "executed texts",
    EntryKind.JUDGEMENT: "judgements",
    EntryKind.DIGEST: "digests of files",
}


def cache_lines(figures: StoreStatistics, path: Path) -> list[str]:
    """How much there is of what, how old it is, and how large it may grow."""
    lines = [f"{path}: {_size(figures.file_bytes)} of at most {_size(figures.most_bytes)}"]
    lines += [
        f"  {share.entries:>9,} {_NAMES[kind]}, {_size(share.bytes)}"
        for kind, share in sorted(figures.kinds.items())
    ]
    if figures.oldest is None or figures.newest is None:
        return [*lines, "  nothing is kept"]
    return [*lines, f"  last used between {_day(figures.oldest)} and {_day(figures.newest)}"]


def cleared_lines(dropped: int, path: Path) -> list[str]:
    """What `bird-harness cache --clear` did."""
    return [f"{path}: {dropped:,} {'entry' if dropped == 1 else 'entries'} dropped"]


def _size(size: int) -> str:
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} bytes"


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(moment))
