"""TA-SQL, in three asks: a draft, for the columns in it; a plan over these columns; SQL after the plan.

After Qu et al. 2024, "Before Generation, Align it! A Novel and Effective Strategy for Mitigating
Hallucinations in Text-to-SQL Generation", https://arxiv.org/abs/2405.15307: schema linking is done by what
models do well, writing SQL (*task-aligned schema linking*: the tables and columns of a dummy query are the
linked ones), and so is reasoning (*task-aligned logical synthesis*: a symbolic representation like pandas
code, without joins, then SQL made of it).

Where it differs from the paper: prompts are in words of this project's own and for three dialects; columns
are described by what is published of them, not by a model's summary of it; the draft is parsed, instead of
searched for names; the columns by which linked tables refer to each other are always among the linked ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.data.extraction import unfenced
from harness.predictors.base import Asking, Problem
from harness.predictors.extraction import take_sql
from harness.predictors.prompts.prompter import Prompter


@dataclass(frozen=True)
class TaSql:
    """Asks in the stages `linking`, `synthesis` and `sql`.

    A draft from which no columns can be taken links the whole schema, and the notes of the prompts say so.
    """

    prompter: Prompter

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Method.identity`."""
        return {"method": "ta-sql", **self.prompter.identity}

    def solve(self, problem: Problem, asking: Asking) -> str:
        """See `Method.solve`."""
        draft = asking("linking", self.prompter.write("ta_sql_linking.j2", problem))
        linked, notes = _linked(problem, draft)
        plan = asking(
            "synthesis",
            self.prompter.write("ta_sql_synthesis.j2", linked, layout="columns.j2", notes=notes),
        )
        representation = unfenced(plan).strip()
        prompt = self.prompter.write(
            "ta_sql_sql.j2", linked, layout="columns.j2", notes=notes, representation=representation
        )
        return asking("sql", prompt)


def _linked(problem: Problem, draft: str) -> tuple[Problem, tuple[str, ...]]:
    """The problem with the linked part of its schema, or with all of it and a note."""
    from harness.predictors.methods.linking import (  # noqa: PLC0415 - sqlglot takes as long as many prompts
        Unreadable,
        linked_columns,
        narrowed,
    )

    try:
        linked = linked_columns(take_sql(draft) or "", problem.database)
    except Unreadable as unreadable:
        return problem, (f"{unreadable.reason}: the whole schema is linked",)
    return replace(problem, database=narrowed(problem.database, linked)), ()
