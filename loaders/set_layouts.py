"""The question sets that come with bird-harness: their manifests, and where their files are.

`layouts/` beside this file has the manifests: a set is data. `set_families` has the layouts of others.
"""

from collections.abc import Mapping
from pathlib import Path

from dialects.enums import Dialect
from dialects.errors import BadInput
from loaders.base.files import one_line
from loaders.set_manifest import Layout, read_manifest

PUBLISHED = (Dialect.SQLITE, Dialect.MYSQL, Dialect.POSTGRESQL)
"""The dialects in which question sets and figures of predictors are published."""

_FOLDER = Path(__file__).with_name("layouts")

LAYOUTS: Mapping[str, Layout] = {
    name: read_manifest(_FOLDER / f"{name}.toml", built_in=True)
    for name in ("sample", "mini_dev", "mini_dev_2025", "dev")
}
"""By name, in the order in which they are named to a user."""


def find(name: str, home: Path, folders: tuple[str, ...], holds: str) -> Path:
    """The first of `folders` below `home` that holds the file or folder `holds`.

    Raises:
        BadInput: none does; the message says where question set `name` was looked for.
    """
    places = [home / folder for folder in folders]
    for place in places:
        if (place / holds).exists():
            return place
    looked = " or ".join(map(str, places))
    remedy = f"point BIRD_HOME, now {home}, at the folder that holds the unpacked published package"
    raise BadInput(one_line(f"question set {name}: no {holds} in {looked}; {remedy}"))
