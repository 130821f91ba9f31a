"""The baseline: one ask, with the whole schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.predictors.base import Asking, Problem
from harness.predictors.prompts.prompter import Prompter


@dataclass(frozen=True)
class Direct:
    """Asks once, in the stage `sql`."""

    prompter: Prompter

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Method.identity`."""
        return {"method": "direct", **self.prompter.identity}

    def solve(self, problem: Problem, asking: Asking) -> str:
        """See `Method.solve`."""
        return asking("sql", self.prompter.write("direct.j2", problem))
