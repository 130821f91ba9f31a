"""The matrix of tested versions of every engine that has servers.

`.github/workflows/dialects.yml` has the same matrix, and a test compares it with this module.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialects.enums import Dialect
from harness.provision.servers import SERVERS
from loaders.base.files import as_json

VERSIONS: Mapping[Dialect, tuple[str, ...]] = {dialect: kind.versions for dialect, kind in SERVERS.items()}
"""The versions that every change is tested on."""

SETS = ("sample", "mini_dev")
"""The question sets: the first always, the other if its data are available."""


@dataclass(frozen=True)
class MatrixCell:
    """One engine version."""

    dialect: Dialect
    version: str

    @property
    def image(self) -> str:
        """Return the name of the official image."""
        return f"{SERVERS[self.dialect].official}:{self.version}"

    def to_json(self) -> dict[str, str]:
        """Return the cell as a CI matrix has it."""
        return {"dialect": self.dialect, "version": self.version, "image": self.image}

    def image_here(self, images: Sequence[str]) -> str | None:
        """Find this version among `images`: the official one, or one that `make images` built."""
        for name in (SERVERS[self.dialect].official, f"bird-harness/{self.dialect}"):
            pattern = re.compile(rf"{re.escape(f'{name}:{self.version}')}(\.\d+)*(-[\w.-]+)?")
            found = sorted(image for image in images if pattern.fullmatch(image))
            if found:
                return found[0]
        return None


def cells(dialects: Sequence[Dialect] = tuple(VERSIONS)) -> list[MatrixCell]:
    """Return the engine versions, oldest first."""
    return [
        MatrixCell(dialect, version)
        for dialect in VERSIONS
        if dialect in dialects
        for version in VERSIONS[dialect]
    ]


def matrix_json() -> str:
    """Return the whole matrix: `engines` (dialect, version, image) and `sets`."""
    return as_json({"engines": [cell.to_json() for cell in cells()], "sets": list(SETS)}, indent=2)
