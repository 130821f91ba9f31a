"""What a rewrite is called and what it is about; each module of `dialects.rewrites` has its own rows."""

from dataclasses import dataclass
from typing import Protocol

from dialects.targets import Target


@dataclass(frozen=True)
class Rule:
    """One difference between SQLite and the targets."""

    name: str
    """Short, in kebab case; it stands in `Translation.rules`."""
    sqlite: str
    """What SQLite does, in one sentence."""
    url: str
    """Where SQLite documents it."""
    target: str
    """How that is said on the targets, in one sentence."""


class Context(Protocol):
    """What a rewrite sees of the compilation that it is part of."""

    @property
    def target(self) -> Target:
        """What the rewrite has to know of where the query is to run."""

    @property
    def filtering(self) -> bool:
        """Whether NULL is as good as FALSE where the expression stands."""

    @property
    def in_utf8(self) -> bool:
        """Whether the bytes of a text are those of UTF-8 in the file."""

    def applies(self, rule: str) -> None:
        """Note that a rewrite has changed something."""

    def warn(self, text: str) -> None:
        """Note an answer that SQLite leaves open, or an assumption."""
