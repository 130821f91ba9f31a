"""Keep what is slow to derive from texts, such as Spider's hardness of golds, in files of the cache folder.

Nothing depends on the files: without them, values are computed again.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from loaders.base.files import ascii_json, content_digest, parse_json, replace
from loaders.base.paths import cache_path
from loaders.base.records import to_record

Value = TypeVar("Value")


def cached_values(
    kind: type[dict[str, Value]],
    name: str,
    code: Iterable[Path],
    facts: Sequence[Any],
    compute: Callable[[int], Value],
) -> list[Value]:
    """Return a value for each of the facts, computed unless an earlier call has kept it.

    Args:
        kind: `dict[str, ...]` with the type of the values, which JSON can hold.
        name: the folder of the values.
        code: the files with the code that decides them.
        facts: what else decides each, as plain values.
        compute: returns the value of the facts at a place.
    """
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in code)).hexdigest()
    path = cache_path() / name / f"{digest}.json"
    values: dict[str, Value] = {}
    with suppress(OSError, ValueError):
        values = to_record(kind, parse_json(path.read_text(encoding="utf-8")))
    keys = list(map(content_digest, facts))
    missing = {key: place for place, key in enumerate(keys) if key not in values}
    if missing:
        values |= {key: compute(place) for key, place in missing.items()}
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace(path, ascii_json(values))
    return [values[key] for key in keys]
