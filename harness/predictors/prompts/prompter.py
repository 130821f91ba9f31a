"""Prompts of a problem: what a template makes of it, made shorter where it has to be (`shortening`).

The baseline is in the manner of the benchmark's own: CREATE TABLE statements, question, external knowledge,
chain of thought with one example (Li et al. 2023, https://arxiv.org/abs/2305.03111). The words are not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines import TITLES
from harness.predictors.base import Message, Problem, Prompt, PromptTooLong, Role
from harness.predictors.prompts.rendering import Templates, load_templates
from harness.predictors.prompts.shortening import shorter
from harness.predictors.prompts.tokens import Tokens


@dataclass(frozen=True)
class Options:
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

    options: Options
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
            self.templates.render(f"example_{database.dialect}.j2", knowledge=knowledge)
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


def open_prompter(options: Options, tokens: Tokens) -> Prompter:
    """Read the templates.

    Raises:
        BadInput: the user's own templates are not what they have to be.
    """
    return Prompter(options, tokens, load_templates(options.templates))


def correction(options: Options) -> Callable[[Dialect, str | None], str]:
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
