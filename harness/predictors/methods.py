"""The methods by name: how a problem becomes asks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialects.errors import BadInput
from harness.data.predictions import unfenced
from harness.predictors.base import Asking, Method, Problem, Prompt
from harness.predictors.extraction import take_sql
from harness.predictors.prompts.prompter import ESTIMATE, Prompter, PromptOptions, Tokens, open_prompter


@dataclass(frozen=True)
class Direct:
    """The baseline: one ask, with the whole schema, in the stage `sql`."""

    prompter: Prompter

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Method.identity`."""
        return {"method": "direct", **self.prompter.identity}

    def solve(self, problem: Problem, asking: Asking) -> str:
        """See `Method.solve`."""
        return asking("sql", self.prompter.write("direct.j2", problem))


@dataclass(frozen=True)
class TaSql:
    """TA-SQL, in three asks: a draft, for the columns in it; a plan over these columns; SQL after the plan.

    After Qu et al. 2024, "Before Generation, Align it! A Novel and Effective Strategy for Mitigating
    Hallucinations in Text-to-SQL Generation", https://arxiv.org/abs/2405.15307: schema linking is done by
    what models do well, writing SQL (*task-aligned schema linking*: the tables and columns of a dummy query
    are the linked ones), and so is reasoning (*task-aligned logical synthesis*: a symbolic representation
    like pandas code, without joins, then SQL made of it).

    Where it differs from the paper: prompts are in words of this project's own and for three dialects;
    columns are described by what is published of them, not by a model's summary of it; the draft is parsed,
    instead of searched for names; the columns by which linked tables refer to each other are always among the
    linked ones.

    The stages are `linking`, `synthesis` and `sql`. A draft from which no columns can be taken links the
    whole schema, and the notes of the prompts say so.
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
    from harness.predictors.linking import (  # noqa: PLC0415 - sqlglot takes as long as many prompts
        UnreadableDraft,
        linked_columns,
        narrowed,
    )

    try:
        linked = linked_columns(take_sql(draft) or "", problem.database)
    except UnreadableDraft as unreadable:
        return problem, (f"{unreadable.reason}: the whole schema is linked",)
    return replace(problem, database=narrowed(problem.database, linked)), ()


METHODS: Mapping[str, Callable[[Prompter], Method]] = {"direct": Direct, "ta-sql": TaSql}


def make_method(name: str, options: PromptOptions, tokens: Tokens = ESTIMATE) -> Method:
    """The method of that name.

    Raises:
        BadInput: there is none, it cannot follow the options, or the user's templates are wrong.
    """
    if name not in METHODS:
        raise BadInput(f"--method {name}: there is none; choose {' or '.join(METHODS)}")
    if name == "ta-sql" and options.chain_of_thought:
        raise BadInput("--method ta-sql: reasons in stages of its own; leave chain of thought out")
    return METHODS[name](open_prompter(options, tokens))


class _Asked(Exception):
    def __init__(self, stage: str, prompt: Prompt) -> None:
        super().__init__(stage)
        self.asked = stage, prompt


def first_prompt(method: Method, problem: Problem) -> tuple[str, Prompt]:
    """The stage and prompt of a method's first ask; nobody is asked.

    Raises:
        PromptTooLong: it cannot be made short enough.
    """

    def stop(stage: str, prompt: Prompt) -> str:
        raise _Asked(stage, prompt)

    try:
        method.solve(problem, stop)
    except _Asked as asked:
        return asked.asked
    raise AssertionError("a method asks at least once")
