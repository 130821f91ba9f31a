"""Write the prompts of a problem from templates, shortened to fit if necessary (`shorter`).

The baseline follows the benchmark's own: CREATE TABLE statements, question, external knowledge, chain of
thought with one example (Li et al. 2023, https://arxiv.org/abs/2305.03111), in different words.
"""

import hashlib
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.engines import TITLES, EngineName, dialect_of, kinds
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Message, Problem, Prompt, PromptTooLong

# Templates are files: the project's own, which a user's files of the same names override.
#
# Faults in a template, of syntax or unknown names, are reported with file and line before anything is sent.

_OWN = Path(__file__).with_name("templates")
_SUFFIX = ".j2"

_ASKED = frozenset({"dialect", "version", "question", "evidence"})
NAMES: Mapping[str, frozenset[str]] = {
    "schema.j2": frozenset({"dialect", "tables"}),
    "columns.j2": frozenset({"dialect", "tables"}),
    **{f"example_{dialect}.j2": frozenset({"knowledge"}) for dialect in Dialect},
    "direct.j2": _ASKED | {"schema", "chain_of_thought", "example"},
    "paper.j2": _ASKED | {"schema", "chain_of_thought", "example"},
    "mini_dev.j2": _ASKED | {"schema", "chain_of_thought", "example"},
    "ta_sql_linking.j2": _ASKED | {"schema"},
    "ta_sql_synthesis.j2": _ASKED | {"schema"},
    "ta_sql_sql.j2": _ASKED | {"schema", "representation"},
    "correction.j2": frozenset({"dialect", "error"}),
}
"""The templates, each with the variables it may use."""


def _users(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise BadInput(f"--templates {folder}: not a folder; name one that has {', '.join(NAMES)}")
    texts = {path.name: _read(path) for path in sorted(folder.glob(f"*{_SUFFIX}"))}
    if not texts.keys() & NAMES.keys():
        raise BadInput(f"--templates {folder}: has none of {', '.join(NAMES)}; add a file of that name")
    return texts


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}); a template is a text file in UTF-8") from error


def _check(environment: jinja2.Environment, name: str, path: Path, texts: Mapping[str, str]) -> None:
    """Reject a text with a syntax error, an include that does not exist, or an unknown variable."""
    try:
        tree = environment.parse(texts[name], name, str(path))
    except jinja2.TemplateSyntaxError as error:
        raise BadInput(_fault(str(path), error.lineno, error.message or "")) from error
    for included in meta.find_referenced_templates(tree):
        if included is not None and included not in texts:
            raise BadInput(_fault(str(path), None, f"{included} does not exist"))
    if name not in NAMES:
        return
    unknown = meta.find_undeclared_variables(tree) - NAMES[name]
    for used in tree.find_all(nodes.Name):
        if used.name in unknown:
            given = ", ".join(sorted(NAMES[name]))
            raise BadInput(_fault(str(path), used.lineno, f"unknown variable {used.name}; there are {given}"))


def _fault(file: str, line: int | None, fault: str) -> str:
    place = file if line is None else f"{file}: line {line}"
    return f"{place}: {' '.join(fault.split())}; correct the template"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _value(value: object) -> str:
    """Write a value of a row as SQL does."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _meaning(column: ColumnText) -> str:
    """Describe a column in one line, as published; empty if that adds nothing to its name."""
    said = {_bare(column.name)}
    parts = []
    for label, text in (("", column.title), ("", column.description), ("values: ", column.values)):
        if text and _bare(text) not in said:
            said.add(_bare(text))
            parts.append(label + _one_line(text))
    return "; ".join(parts)


def _bare(text: str) -> str:
    return _one_line(text.replace("_", " ")).casefold()


def _spelled(name: str, table: TableText, dialect: str) -> str:
    """Quote a name if the statement of its table does, or if it needs quotes."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    if plain and not any(each in table.create for each in (f'"{name}"', f"`{name}`", f"[{name}]")):
        return name
    quote = next((kind.quote for kind in kinds() if kind.title == dialect), '"')
    return quote + name.replace(quote, quote * 2) + quote


# Count the tokens of a prompt: by an estimate, or with a function that the user names.

_BYTES_PER_TOKEN = 4
"""The approximate average for English prose and SQL in common vocabularies; other scripts take more tokens.

https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them
"""


@dataclass(frozen=True)
class Tokens:
    """A named counter of a text's tokens; `estimated` is True if it guesses.

    No counter includes what an endpoint adds around messages.
    """

    name: str
    count: Callable[[str], int]
    estimated: bool


def _estimate(text: str) -> int:
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


ESTIMATE = Tokens("estimate (UTF-8 bytes / 4)", _estimate, estimated=True)
"""A token for every four bytes of UTF-8, rounded up."""


def shorter(problem: Problem, *, has_example: bool) -> Iterator[tuple[str | None, Problem, bool]]:
    """Yield the problem as it is, then shortened part by part: what was dropped, and the rest.

    Each part is dropped whole, and only if the prompt is still too long: the sample rows; the descriptions of
    columns' values; the other descriptions of columns; the worked example; then tables, the last first: those
    that the question and its external knowledge name neither by the table's name nor by one of its columns',
    then those that are named by a column only. A table that is named, the last remaining table, the question,
    its external knowledge and the instruction are never dropped: a prompt too long with these is refused.
    """
    yield None, problem, has_example
    parts: tuple[tuple[str, Callable[[TableText], TableText]], ...] = (
        ("sample rows", lambda table: replace(table, rows=())),
        ("descriptions of values", _without("values")),
        ("descriptions of columns", _without("title", "description")),
    )
    for what, shortened in parts:
        tables = tuple(map(shortened, problem.database.tables))
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


def _without(*texts: str) -> Callable[[TableText], TableText]:
    nothing: dict[str, Any] = dict.fromkeys(texts)
    return lambda table: replace(table, columns=tuple(replace(column, **nothing) for column in table.columns))


def _with(problem: Problem, tables: tuple[TableText, ...]) -> Problem:
    return replace(problem, database=replace(problem.database, tables=tables))


def _dispensable(problem: Problem) -> list[str]:
    """List the tables that the question does not name, in the order in which they are dropped."""
    text = f"{problem.text} {problem.evidence}"
    # So that `loanDate` also names PostgreSQL's `loandate`.
    said = f" {_words(text)} {_words(text.lower())} "
    tables = [table for table in reversed(problem.database.tables) if not _says(said, table.name)]
    unnamed = [
        table.name for table in tables if not any(_says(said, column.name) for column in table.columns)
    ]
    return unnamed + [table.name for table in tables if table.name not in unnamed]


def _says(said: str, name: str) -> bool:
    """Return True if words contain a name, in any case and number, with blanks for underscores or without."""
    words = _words(name)
    return bool(words) and (f" {words} " in said or f" {words.replace(' ', '')} " in said)


def _words(text: str) -> str:
    """Return the words of a text in lower case without plural endings; `loanDate` is two words."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return " ".join(_singular(word) for word in re.findall(r"[^\W_]+", apart.lower()))


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s").removesuffix("e")


@dataclass(frozen=True)
class PromptOptions:
    """The contents of prompts.

    `knowledge`: the question's external knowledge. `chain_of_thought`: a worked example and the request to
    think before the SQL. `descriptions`: the published descriptions of columns. `rows`: how many first rows
    of each table. `max_prompt_tokens`: longer prompts are shortened to it. `templates`: a folder with the
    user's own templates. `evidence`: a file with the external knowledge of each question, in place of the
    set's.

    Raises:
        BadInput: a number is out of range.
    """

    knowledge: bool = True
    chain_of_thought: bool = False
    descriptions: bool = False
    rows: int = 0
    max_prompt_tokens: int | None = None
    templates: Path | None = None
    evidence: Path | None = None

    def __post_init__(self) -> None:
        if self.rows < 0:
            raise BadInput(f"--rows {self.rows}: must be 0 or more rows")
        if self.max_prompt_tokens is not None and self.max_prompt_tokens < 1:
            raise BadInput(f"--max-prompt-tokens {self.max_prompt_tokens}: must be 1 or more tokens")


@dataclass(frozen=True)
class Prompter:
    """Writes prompts from loaded templates; `digest` changes with any of their texts."""

    options: PromptOptions
    tokens: Tokens
    digest: str
    environment: jinja2.Environment

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return what decides the prompts, as JSON values."""
        limit = self.options.max_prompt_tokens
        return {
            "knowledge": self.options.knowledge,
            "chain_of_thought": self.options.chain_of_thought,
            "descriptions": self.options.descriptions,
            "rows": self.options.rows,
            "max_prompt_tokens": limit,
            "tokens": self.tokens.name if limit is not None else None,
            "templates": self.digest,
            **({} if self.options.evidence is None else {"evidence": self.options.evidence.name}),
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
        """Write the prompt of a template, with as much of the problem as fits.

        Args:
            template: the name of the stage's template.
            problem: the problem; the prompt may show its database.
            layout: the name of the template that lays out the schema.
            notes: the notes of the prompt.
            values: additional variables for the template.

        Raises:
            PromptTooLong: it is too long whatever is left out.
            BadInput: a template fails.
        """
        limit = self.options.max_prompt_tokens
        dropped: list[str] = []
        tokens = 0
        for what, shown, has_example in shorter(problem, has_example=self.options.chain_of_thought):
            if what is not None:
                dropped.append(what)
            text = self.render(template, **self._values(shown, layout, has_example=has_example), **values)
            tokens = self.tokens.count(text)
            if limit is None or tokens <= limit:
                messages = (Message("user", text),)
                return Prompt(messages, tokens, self.tokens.estimated, tuple(dropped), tuple(notes))
        told = f"{tokens} tokens{' (estimated)' if self.tokens.estimated else ''}"
        raise PromptTooLong(f"the prompt has {told} after all that can be dropped, and {limit} are allowed")

    def correction(self, dialect: EngineName, error: str | None) -> str:
        """Write the message with the engine's error, or, for None, that the answer had no SQL."""
        return self.render("correction.j2", dialect=TITLES[dialect], error=error)

    def render(self, name: str, **values: object) -> str:
        """Render a template, without blanks at its ends.

        Raises:
            BadInput: the template fails.
        """
        try:
            return self.environment.get_template(name).render(**values).strip()
        except jinja2.TemplateSyntaxError as error:
            raise BadInput(_fault(error.filename or name, error.lineno, error.message or "")) from error
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            file, line = next(
                ((frame.filename, frame.lineno) for frame in reversed(frames) if _SUFFIX in frame.filename),
                (name, None),
            )
            raise BadInput(_fault(file, line, f"{type(error).__name__}: {error}")) from error

    def _values(self, problem: Problem, layout: str, *, has_example: bool) -> dict[str, object]:
        database, knowledge = problem.database, self.options.knowledge
        label, example = TITLES[database.dialect], ""
        if has_example:
            example = self.render(f"example_{dialect_of(database.dialect)}.j2", knowledge=knowledge)
        return {
            "dialect": label,
            "version": database.version,
            "question": problem.text.strip(),
            "evidence": problem.evidence.strip() if knowledge else "",
            "chain_of_thought": self.options.chain_of_thought,
            "example": example,
            "schema": self.render(layout, dialect=label, tables=database.tables),
        }


def open_prompter(options: PromptOptions, tokens: Tokens = ESTIMATE) -> Prompter:
    """Read all templates: a user's own override the project's; other files are for these to include.

    Raises:
        BadInput: the user's folder or a file in it cannot be read, none has the name of a template, or one is
        not a valid template.
    """
    users = {} if options.templates is None else _users(options.templates)
    examples = {f"example_{kind.name}.j2": kind.example for kind in kinds()}
    paths = {name: examples.get(name, _OWN / name) for name in NAMES}
    texts = {name: _read(path) for name, path in paths.items()} | users
    if options.templates is not None:
        paths |= {name: options.templates / name for name in users}
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - a prompt is not HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(
            lambda name: (texts[name], str(paths[name]), None) if name in texts else None
        ),
    )
    environment.filters |= {"value": _value, "one_line": _one_line, "meaning": _meaning, "spelled": _spelled}
    for name in texts:
        _check(environment, name, paths[name], texts)
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()
    return Prompter(options, tokens, digest, environment)


def show(prompt: Prompt) -> str:
    """Format a prompt for people: each message under its role, then its tokens, and what was dropped."""
    parts = [f"--- {message.role} ---\n{message.content}\n" for message in prompt.messages]
    tokens = f"--- {prompt.tokens} tokens{', estimated' if prompt.estimated else ''} ---\n"
    told = [f"left out: {what}\n" for what in prompt.dropped] + [f"note: {note}\n" for note in prompt.notes]
    return "".join([*parts, tokens, *told])
