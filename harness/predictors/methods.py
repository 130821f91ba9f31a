"""The methods by name: how a problem becomes asks, and which part of a schema a draft of a query links."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dialects.errors import BadInput
from harness.data.predictions import unfenced
from harness.engines import EngineName
from harness.engines.base import TableText
from harness.predictors.base import DatabaseText, Problem, Prompt
from harness.predictors.extraction import take_sql
from harness.predictors.prompts import ESTIMATE, Prompter, PromptOptions, Tokens, open_prompter

if TYPE_CHECKING:
    from sqlglot import exp

Stages = Generator[tuple[str, Prompt], str, str]
"""Yields the prompt of each stage, takes the text of its reply, and returns the text with the answer's SQL in
it, as it came: extraction comes later. Raises PromptTooLong where a prompt cannot be made short enough."""


def _direct(prompter: Prompter, problem: Problem) -> Stages:
    """The baseline: one ask, with the whole schema, in the stage `sql`."""
    return (yield "sql", prompter.write("direct.j2", problem))


def _ta_sql(prompter: Prompter, problem: Problem) -> Stages:
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
    draft = yield "linking", prompter.write("ta_sql_linking.j2", problem)
    notes: tuple[str, ...] = ()
    try:
        linked = linked_columns(take_sql(draft) or "", problem.database)
    except UnreadableDraft as unreadable:
        notes = (f"{unreadable}: the whole schema is linked",)
    else:
        problem = replace(problem, database=narrowed(problem.database, linked))
    plan = yield (
        "synthesis",
        prompter.write("ta_sql_synthesis.j2", problem, layout="columns.j2", notes=notes),
    )
    prompt = prompter.write(
        "ta_sql_sql.j2", problem, layout="columns.j2", notes=notes, representation=unfenced(plan).strip()
    )
    return (yield "sql", prompt)


METHODS: Mapping[str, Callable[[Prompter, Problem], Stages]] = {"direct": _direct, "ta-sql": _ta_sql}


@dataclass(frozen=True)
class Method:
    """How a problem becomes asks. Holds no state, and does the same again for the same replies."""

    name: str
    prompter: Prompter

    @property
    def identity(self) -> Mapping[str, Any]:
        """What decides the messages (name, options, digests of templates), as plain JSON values."""
        return {"method": self.name, **self.prompter.identity}

    def stages(self, problem: Problem) -> Stages:
        """The asks of a problem, one after the other."""
        return METHODS[self.name](self.prompter, problem)


def make_method(name: str, options: PromptOptions, tokens: Tokens = ESTIMATE) -> Method:
    """The method of that name.

    Raises:
        BadInput: there is none, it cannot follow the options, or the user's templates are wrong.
    """
    if name not in METHODS:
        raise BadInput(f"--method {name}: there is none; choose {' or '.join(METHODS)}")
    if name == "ta-sql" and options.chain_of_thought:
        raise BadInput("--method ta-sql: reasons in stages of its own; leave chain of thought out")
    return Method(name, open_prompter(options, tokens))


class UnreadableDraft(ValueError):
    """A draft from which nothing can be taken; the message is a short phrase."""


def linked_columns(sql: str, database: DatabaseText) -> Mapping[str, frozenset[str]]:
    """The columns that a draft names, by table.

    A name is looked up in the schema without case and quotes. A column without a table before it is that of
    every table of the query that has one of its name; `*` is every column of its table. What the schema does
    not have is nobody's: in SQLite and MySQL a text in double quotes looks like a name. Added are the columns
    by which tables of the draft refer to each other, and all columns of a table of which it names none.

    Raises:
        UnreadableDraft: it is no query, cannot be parsed, or names no table of the schema.
    """
    from sqlglot import exp  # noqa: PLC0415 - takes as long as many prompts, and most methods have no draft

    queries = _parsed(sql, database.dialect)
    tables = {table.name.casefold(): table for table in database.tables}
    # The tables that a name before a column may mean: several if subqueries give them one alias.
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
        raise UnreadableDraft("the draft is no query")
    return queries


def _completed(database: DatabaseText, found: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    """With the columns by which tables refer to each other, and the whole of a table instead of nothing."""
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
    """The schema with these tables and these of their columns alone.

    A table keeps its whole statement, and those foreign keys that lie within what is kept.
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
