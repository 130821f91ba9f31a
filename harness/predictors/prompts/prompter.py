"""Prompts of a problem: what a template makes of it, made shorter where it has to be (`shorter`).

The baseline is in the manner of the benchmark's own: CREATE TABLE statements, question, external knowledge,
chain of thought with one example (Li et al. 2023, https://arxiv.org/abs/2305.03111). The words are not.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.engines import TITLES, EngineName, dialect_of
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Message, Problem, Prompt, PromptTooLong, Role
from harness.predictors.prompts.rendering import Templates, load_templates
from harness.predictors.prompts.tokens import Tokens


def shorter(problem: Problem, *, has_example: bool) -> Iterator[tuple[str | None, Problem, bool]]:
    """The problem as it is, then shorter by one part after the other: what it lost, and the rest.

    Each part goes wholly, and only if the prompt is still too long: the sample rows; what is published of
    columns' values; what else is published of columns; the worked example; then tables, the last first: those
    that the question and its external knowledge name neither by the table's name nor by one of its columns',
    then those that are named by a column only. A table that is named, the last one that is left, the
    question, its external knowledge and the instruction stay whatever happens: what is too long with these is
    refused.
    """
    yield None, problem, has_example
    parts: tuple[tuple[str, Callable[[TableText], TableText]], ...] = (
        ("sample rows", lambda table: replace(table, rows=())),
        ("descriptions of values", partial(_described, change=_without_values)),
        ("descriptions of columns", partial(_described, change=_without_descriptions)),
    )
    for what, without in parts:
        tables = tuple(without(table) for table in problem.database.tables)
        if tables != problem.database.tables:
            problem = _with(problem, tables)
            yield what, problem, has_example
    if has_example:
        yield "worked example", problem, False
    for name in _dispensable(problem):
        tables = tuple(table for table in problem.database.tables if table.name != name)
        if tables:
            problem = _with(problem, tables)
            yield f"table {name}", problem, False


def _described(table: TableText, change: Callable[[ColumnText], ColumnText]) -> TableText:
    return replace(table, columns=tuple(map(change, table.columns)))


def _without_values(column: ColumnText) -> ColumnText:
    return replace(column, values=None)


def _without_descriptions(column: ColumnText) -> ColumnText:
    return replace(column, title=None, description=None)


def _with(problem: Problem, tables: tuple[TableText, ...]) -> Problem:
    return replace(problem, database=replace(problem.database, tables=tables))


def _dispensable(problem: Problem) -> list[str]:
    """The tables that the question does not name, in the order in which they are left out."""
    text = f"{problem.text} {problem.evidence}"
    # So that PostgreSQL's `loandate` is named by `loanDate`, too.
    said = f" {_words(text)} {_words(text.lower())} "
    tables = [table for table in reversed(problem.database.tables) if not _says(said, table.name)]
    unnamed = [
        table.name for table in tables if not any(_says(said, column.name) for column in table.columns)
    ]
    return unnamed + [table.name for table in tables if table.name not in unnamed]


def _says(said: str, name: str) -> bool:
    """Whether words have a name, whatever its case and number, with blanks for underscores or without."""
    words = _words(name)
    return bool(words) and (f" {words} " in said or f" {words.replace(' ', '')} " in said)


def _words(text: str) -> str:
    """The words of a text in lower case, of which `loanDate` has two, without the ends of plurals."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return " ".join(_singular(word) for word in re.findall(r"[^\W_]+", apart.lower()))


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s").removesuffix("e")


@dataclass(frozen=True)
class PromptOptions:
    """What is in prompts.

    `knowledge`: the question's external knowledge. `chain_of_thought`: a worked example and the request to
    think before the SQL. `descriptions`: the published descriptions of columns. `rows`: so many first rows of
    each table. `max_prompt_tokens`: what a longer prompt is cut down to. `templates`: a folder of the user's
    own templates.

    Raises:
        BadInput: a number is out of range.
    """

    knowledge: bool = True
    chain_of_thought: bool = False
    descriptions: bool = False
    rows: int = 0
    max_prompt_tokens: int | None = None
    templates: Path | None = None

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise BadInput(f"--rows {self.rows}: has to be 0 or more rows")
        if self.max_prompt_tokens is not None and self.max_prompt_tokens < 1:
            raise BadInput(f"--max-prompt-tokens {self.max_prompt_tokens}: has to be 1 or more tokens")


@dataclass(frozen=True)
class Prompter:
    """Writes the prompts of a method."""

    options: PromptOptions
    tokens: Tokens
    templates: Templates

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides the prompts, as plain JSON values."""
        limit = self.options.max_prompt_tokens
        return {
            "knowledge": self.options.knowledge,
            "chain_of_thought": self.options.chain_of_thought,
            "descriptions": self.options.descriptions,
            "rows": self.options.rows,
            "max_prompt_tokens": limit,
            "tokens": self.tokens.name if limit is not None else None,
            "templates": self.templates.digest,
        }

    def write(
        self,
        template: str,
        problem: Problem,
        *,
        layout: str = "schema.j2",
        notes: Sequence[str] = (),
        **values: object,
    ) -> Prompt:
        """The prompt that a template makes, with as much of the problem as there is room for.

        Args:
            template: the name of the stage's template.
            problem: what is asked; its database is what the prompt may show.
            layout: the name of the template that lays out the schema.
            notes: what is to be told with the prompt.
            values: more names for the template.

        Raises:
            PromptTooLong: it is too long whatever is left out.
            BadInput: a template fails.
        """
        thinks = self.options.chain_of_thought
        limit = self.options.max_prompt_tokens
        dropped: list[str] = []
        tokens = 0
        for what, shown, shows_example in shorter(problem, has_example=thinks):
            if what is not None:
                dropped.append(what)
            text = self._render(template, layout, shown, values, has_example=shows_example)
            tokens = self.tokens.count(text)
            if limit is None or tokens <= limit:
                messages = (Message(Role.USER, text),)
                return Prompt(messages, tokens, self.tokens.estimated, tuple(dropped), tuple(notes))
        told = f"{tokens} tokens{' (estimated)' if self.tokens.estimated else ''}"
        raise PromptTooLong(f"the prompt has {told} with all left out that may be, and {limit} are allowed")

    def _render(
        self,
        template: str,
        layout: str,
        problem: Problem,
        values: Mapping[str, object],
        *,
        has_example: bool,
    ) -> str:
        database = problem.database
        label = TITLES[database.dialect]
        knowledge = self.options.knowledge
        example = (
            self.templates.render(f"example_{dialect_of(database.dialect)}.j2", knowledge=knowledge)
            if has_example
            else ""
        )
        return self.templates.render(
            template,
            dialect=label,
            version=database.version,
            question=problem.text.strip(),
            evidence=problem.evidence.strip() if knowledge else "",
            chain_of_thought=self.options.chain_of_thought,
            example=example,
            schema=self.templates.render(layout, dialect=label, tables=database.tables),
            **values,
        )


def open_prompter(options: PromptOptions, tokens: Tokens) -> Prompter:
    """Read the templates.

    Raises:
        BadInput: the user's own templates are not what they have to be.
    """
    return Prompter(options, tokens, load_templates(options.templates))


def correction(options: PromptOptions) -> Callable[[EngineName, str | None], str]:
    """What tells a model the engine's error, or, for None, that there was no SQL in its answer.

    Raises:
        BadInput: as `open_prompter`.
    """
    templates = load_templates(options.templates)
    return lambda dialect, error: templates.render("correction.j2", dialect=TITLES[dialect], error=error)


def show(prompt: Prompt) -> str:
    """A prompt for people: each message under its role, then its tokens, and what was left out."""
    parts = [f"--- {message.role} ---\n{message.content}\n" for message in prompt.messages]
    tokens = f"--- {prompt.tokens} tokens{', estimated' if prompt.estimated else ''} ---\n"
    told = [f"left out: {what}\n" for what in prompt.dropped] + [f"note: {note}\n" for note in prompt.notes]
    return "".join([*parts, tokens, *told])
