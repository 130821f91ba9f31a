"""The methods by name: turn a problem into asks, and find the part of a schema that a draft query uses."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dialects.errors import BadInput
from harness.data.answers import Extract, extract, first_code_block
from harness.engines import EngineName
from harness.engines.base import TableText
from harness.predictors.base import DatabaseText, Problem, Prompt
from harness.predictors.prompts import ESTIMATE, Prompter, PromptOptions, Tokens, open_prompter

if TYPE_CHECKING:
    from sqlglot import exp

Stages = Generator[tuple[str, Prompt], str, str]
"""Yields the prompt of each stage, receives the text of its reply, and returns the text that contains the
answer's SQL, unchanged: extraction follows later. Raises PromptTooLong if a prompt cannot be made short
enough."""


def _direct(prompter: Prompter, problem: Problem) -> Stages:
    """Ask once, with the whole schema, in the stage `sql`: the baseline."""
    return (yield "sql", prompter.write("direct.j2", problem))


def _ta_sql(prompter: Prompter, problem: Problem) -> Stages:
    """Ask three times, as TA-SQL: for a draft, a plan over the draft's columns, and SQL after the plan.

    After Qu et al. 2024, "Before Generation, Align it! A Novel and Effective Strategy for Mitigating
    Hallucinations in Text-to-SQL Generation", https://arxiv.org/abs/2405.15307: schema linking becomes what
    models do well, writing SQL (*task-aligned schema linking*: the tables and columns of a dummy query are
    the linked ones), and so does reasoning (*task-aligned logical synthesis*: a symbolic representation like
    pandas code, without joins, then SQL made from it).

    Differences from the paper: prompts are this project's own and cover three dialects; columns have their
    published descriptions, not a model's summary of these; the draft is parsed instead of searched for names;
    the columns by which linked tables refer to each other are always linked.

    The stages are `linking`, `synthesis` and `sql`. A draft from which no columns can be read links the whole
    schema, which the notes of the prompts record.
    """
    draft = yield "linking", prompter.write("ta_sql_linking.j2", problem)
    notes: tuple[str, ...] = ()
    try:
        linked = linked_columns(extract(draft, Extract.ANSWER_1, problem.dialect).sql or "", problem.database)
    except UnreadableDraft as unreadable:
        notes = (f"{unreadable}: the whole schema is linked",)
    else:
        problem = replace(problem, database=narrowed(problem.database, linked))
    plan = yield (
        "synthesis",
        prompter.write("ta_sql_synthesis.j2", problem, layout="columns.j2", notes=notes),
    )
    prompt = prompter.write(
        "ta_sql_sql.j2",
        problem,
        layout="columns.j2",
        notes=notes,
        representation=first_code_block(plan).strip(),
    )
    return (yield "sql", prompt)


def _paper(prompter: Prompter, problem: Problem) -> Stages:
    """Ask once, as the BIRD paper does: schema, knowledge and question as code, with one example for `cot`.

    Li et al. 2023, https://arxiv.org/abs/2305.03111, experiments and the appendix on prompts.
    """
    reply = yield "sql", prompter.write("paper.j2", problem)
    if prompter.options.chain_of_thought or extract(reply, Extract.ANSWER_1, problem.dialect).sql:
        return reply
    # The prompt ends with the first word, which a model that only completes texts leaves out.
    return f"SELECT {reply}"


def _mini_dev(prompter: Prompter, problem: Problem) -> Stages:
    """Ask once, as Mini-Dev's scripts do: the same as code, then how to answer."""
    return (yield "sql", prompter.write("mini_dev.j2", problem))


METHODS: Mapping[str, Callable[[Prompter, Problem], Stages]] = {
    "direct": _direct,
    "ta-sql": _ta_sql,
    "paper": _paper,
    "mini-dev": _mini_dev,
}


@dataclass(frozen=True)
class Method:
    """Turns a problem into asks. Stateless: the same replies lead to the same asks."""

    name: str
    prompter: Prompter

    @property
    def identity(self) -> Mapping[str, Any]:
        """Return what decides the messages (name, options, digests of templates), as JSON values."""
        return {"method": self.name, **self.prompter.identity}

    def stages(self, problem: Problem) -> Stages:
        """Yield the prompts of a problem's asks, in order."""
        return METHODS[self.name](self.prompter, problem)


def make_method(name: str, options: PromptOptions, tokens: Tokens = ESTIMATE) -> Method:
    """Make the method of that name.

    Raises:
        BadInput: the name is unknown, the method contradicts the options, or the user's templates are wrong.
    """
    if name not in METHODS:
        raise BadInput(f"--method {name}: unknown; choose {' or '.join(METHODS)}")
    if name == "ta-sql" and options.chain_of_thought:
        raise BadInput("--method ta-sql: has its own stages of reasoning; omit chain of thought")
    return Method(name, open_prompter(options, tokens))


class UnreadableDraft(ValueError):
    """A draft from which no columns can be read; the message is a short phrase."""


def linked_columns(sql: str, database: DatabaseText) -> Mapping[str, frozenset[str]]:
    """Return the columns that a draft names, by table.

    A name is looked up in the schema without case and quotes. An unqualified column belongs to every table of
    the query that has it; `*` is every column of its table. Names that are not in the schema are ignored: in
    SQLite and MySQL a text in double quotes looks like a name. The columns by which tables of the draft refer
    to each other are added, and all columns of a table of which it names none.

    Raises:
        UnreadableDraft: it is not a query, cannot be parsed, or names no table of the schema.
    """
    from sqlglot import exp  # noqa: PLC0415 - slow to import, and most methods have no draft

    queries = _parsed(sql, database.dialect)
    tables = {table.name.casefold(): table for table in database.tables}
    # The tables that a qualifier may mean: several if subqueries share an alias.
    aliases: dict[str, dict[str, TableText]] = {}
    for item in (item for query in queries for item in query.find_all(exp.Table)):
        if table := tables.get(item.name.casefold()):
            for alias in (table.name, item.alias_or_name):
                aliases.setdefault(alias.casefold(), {})[table.name] = table
    named = {name: table for meant in aliases.values() for name, table in meant.items()}
    if not named:
        raise UnreadableDraft("the draft names no table of the database")
    found: dict[str, set[str]] = {name: set() for name in named}
    for node in (node for query in queries for node in query.find_all(exp.Column, exp.Select)):
        if isinstance(node, exp.Column):
            before, name = node.table.casefold(), node.name.casefold()
            for table in (aliases.get(before, {}) if before else named).values():
                columns = (column.name for column in table.columns)
                found[table.name].update(each for each in columns if node.is_star or each.casefold() == name)
        elif any(isinstance(each, exp.Star) for each in node.expressions):
            for table in named.values():
                found[table.name].update(column.name for column in table.columns)
    return _completed(database, found)


def _parsed(sql: str, dialect: EngineName) -> "list[exp.Query]":
    from sqlglot import exp  # noqa: PLC0415 - see `linked_columns`

    from harness.sqltree.parser import statements  # noqa: PLC0415 - the same

    try:
        trees = statements(sql, dialect)
    except Exception as error:
        raise UnreadableDraft("the draft cannot be read as SQL") from error
    queries = [tree for tree in trees if isinstance(tree, exp.Query)]
    if not queries or len(queries) < len(trees):
        raise UnreadableDraft("the draft is not a query")
    return queries


def _completed(database: DatabaseText, found: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    """Add the columns by which tables refer to each other, and all columns of a table that has none."""
    complete = {
        table.name: found[table.name] or {column.name for column in table.columns}
        for table in database.tables
        if table.name in found
    }
    for table in database.tables:
        for columns, parent, there in table.foreign_keys:
            if table.name in complete and parent in complete and parent != table.name:
                complete[table.name] |= set(columns)
                complete[parent] |= set(there)
    return {name: frozenset(columns) for name, columns in complete.items()}


def narrowed(database: DatabaseText, linked: Mapping[str, frozenset[str]]) -> DatabaseText:
    """Reduce the schema to these tables and columns.

    A table keeps its whole statement, and the foreign keys between kept columns.
    """
    return replace(
        database,
        tables=tuple(_narrowed(table, linked) for table in database.tables if linked.get(table.name)),
    )


def _narrowed(table: TableText, linked: Mapping[str, frozenset[str]]) -> TableText:
    kept = [place for place, column in enumerate(table.columns) if column.name in linked[table.name]]
    return replace(
        table,
        columns=tuple(table.columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in table.rows),
        foreign_keys=tuple(
            key
            for key in table.foreign_keys
            if linked[table.name].issuperset(key[0]) and linked.get(key[1], frozenset()).issuperset(key[2])
        ),
    )
