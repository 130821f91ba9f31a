"""The schema that an application would keep on a target: what `load` leaves out because it only reads.

Identity columns, DEFAULT, NOT NULL, keys, CHECK, foreign keys with their actions, and indexes. Expressions
are translated by `dialects.translation`. Left out, with a reason: what has no exact translation without
installed functions, and references that stored rows break.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput, Untranslatable
from dialects.identifiers import FUNCTIONS_NAMESPACE, quoted, table_name
from dialects.plain_names import is_plain_word
from dialects.schema import ForeignKey, PortableType, Schema
from dialects.server_schema import ServerTable, server_tables
from dialects.targets import SQLGLOT
from dialects.translation import translate
from loaders.file_census import census
from loaders.source import opened
from loaders.target import target as loading_target

_SHORTEST = 255
"""Least length of a key of texts that has a limit: values longer than the stored ones may come."""

_ACTIONS = frozenset({"CASCADE", "SET NULL", "RESTRICT"})
"""Actions of foreign keys that mean the same on every target that has them; NO ACTION is the default."""


@dataclass
class Ddl:
    """Statements in the order in which they run, and what they leave out, a sentence each."""

    statements: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        notes = "".join(f"-- left out: {' '.join(note.split())}\n" for note in self.left_out)
        return notes + "".join(f"{statement};\n" for statement in self.statements)


def ddl(path: Path, target: Dialect) -> Ddl:
    """Return the schema of a SQLite file for a target.

    Raises:
        BadInput: the file cannot be read, or the target does not allow its names.
    """
    schema = census(path)
    tables = server_tables(schema, target, Profile.FAITHFUL, path)
    with opened(path) as connection:
        return _Writer(connection, schema, tables, target).written()


class _Writer:
    def __init__(
        self, connection: sqlite3.Connection, schema: Schema, tables: Sequence[ServerTable], target: Dialect
    ) -> None:
        self._connection, self._schema, self._tables, self._target = connection, schema, tables, target
        self._syntax = loading_target(target).ddl
        self._ddl = Ddl()

    def written(self) -> Ddl:
        later: list[str] = []
        for table in self._in_order():
            references = list(self._references(table))
            if self._syntax.has_actions:
                later += [f"ALTER TABLE {self._name(table.name)} ADD {one}" for one in references]
                references = []
            self._ddl.statements += self._created(table, references)
            later += self._indexes(table)
        self._ddl.statements += later
        for kind, name, owner in self._connection.execute(
            "SELECT type, name, tbl_name FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY rowid"
        ):
            where = f" of {owner}" if kind == "trigger" else ""
            self._leave_out(f"{kind} {name}{where}", "write it again in the target's language")
        for name in self._schema.virtual:
            self._leave_out(f"virtual table {name}", "the target has no such table")
        return self._ddl

    def _leave_out(self, what: str, why: str) -> None:
        self._ddl.left_out.append(f"{what}: {why}")

    def _in_order(self) -> list[ServerTable]:
        """Return the tables, parents before the tables that refer to them."""
        waiting, found = list(self._tables), list[ServerTable]()
        while waiting:
            made = {table.source.name for table in found}
            ready = [
                table
                for table in waiting
                if {key.parent for key in table.source.foreign_keys} - {table.source.name} <= made
            ] or waiting[:1]
            found += ready
            waiting = [table for table in waiting if table not in ready]
        return found

    def _name(self, name: str) -> str:
        return exp.to_identifier(name, quoted=not is_plain_word(name)).sql(SQLGLOT[self._target])

    def _names(self, names: Iterable[str]) -> str:
        return ", ".join(map(self._name, names))

    def _expression(self, sql: str, start: str, what: str) -> str | None:
        """Return the translation of an expression after `start`; None if it is left out."""
        try:
            found = translate(f"{start}{sql}", self._schema, self._target)
        except (Untranslatable, BadInput) as error:
            self._leave_out(what, str(error))
            return None
        if found.warnings or FUNCTIONS_NAMESPACE in found.sql:
            self._leave_out(what, found.warnings[0] if found.warnings else "it needs an installed function")
            return None
        word = " WHERE " if " WHERE " in start else "SELECT "
        return found.sql.partition(word)[2]

    # Tables.

    def _created(self, table: ServerTable, references: Sequence[str]) -> Iterator[str]:
        source, lines = table.source, list[str]()
        rows = self._connection.execute(
            'SELECT name, "notnull", dflt_value, hidden FROM pragma_table_xinfo(?)', (source.name,)
        ).fetchall()
        declared = {name: (bool(not_null), default, hidden) for name, not_null, default, hidden in rows}
        keyed = {*source.primary_key, *(name for key in source.unique for name in key)}
        for column in table.columns:
            not_null, default, hidden = declared[column.source.name]
            where = f"{source.name}.{column.source.name}"
            type_ = column.type
            if type_.startswith("varchar") or (self._syntax.indexed and column.source.name in keyed):
                text = column.source.type is PortableType.TEXT
                type_ = f"varchar({max(column.source.longest, _SHORTEST)})" if text else type_
            line = f"{self._name(column.name)} {type_}"
            if column.source.name == source.rowid:
                [(start,)] = self._connection.execute(
                    f"SELECT coalesce(max({quoted(source.rowid)}), 0) + 1 FROM {quoted(source.name)}"  # noqa: S608 - quoted
                )
                sequence = self._name(f"{table.name}_{column.name}_seq")
                if self._syntax.has_sequences:
                    yield f"CREATE SEQUENCE {sequence} START {max(start, 1)}"
                line += self._syntax.identity.format(start=max(start, 1), sequence=sequence)
            elif hidden:
                self._leave_out(f"generated column {where}", "it is an ordinary column")
            elif default is not None and (
                value := self._expression(f"({default})", "SELECT ", f"DEFAULT of {where}")
            ):
                line += f" DEFAULT ({value})"
            lines.append(line + (" NOT NULL" if not_null or column.source.name in source.primary_key else ""))
            if column.source.collation != "BINARY":
                self._leave_out(f"COLLATE {column.source.collation} of {where}", "columns compare bytes")
        lines += [f"PRIMARY KEY ({self._names(table.spelled(source.primary_key))})"] * bool(
            source.primary_key
        )
        lines += [f"UNIQUE ({self._names(table.spelled(key))})" for key in source.unique]
        lines += [f"CHECK ({condition})" for condition in self._checks(table)]
        body = ",\n  ".join([*lines, *references])
        yield f"CREATE TABLE {self._name(table.name)} (\n  {body}\n){self._syntax.options}"

    def _checks(self, table: ServerTable) -> Iterator[str]:
        name = table.source.name
        [(sql,)] = self._connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
        if "check" not in sql.lower():
            return
        try:
            tree = sqlglot.parse_one(sql, read="sqlite")
        except SqlglotError:
            self._leave_out(f"CHECK of {name}", "the statement of its table cannot be read")
            return
        for number, node in enumerate(tree.find_all(exp.CheckColumnConstraint), 1):
            # Rows that a query finds by NOT are those that break the condition: NULL breaks none.
            broken = self._expression(
                f"NOT ({node.this.sql('sqlite')})",
                f"SELECT 1 FROM {quoted(name)} WHERE ",  # noqa: S608 - quoted
                f"CHECK {number} of {name}",
            )
            if broken is not None:
                yield self._negated(broken)

    def _negated(self, condition: str) -> str:
        try:
            tree = sqlglot.parse_one(condition, read=SQLGLOT[self._target])
        except SqlglotError:
            return f"NOT ({condition})"
        is_negated = isinstance(tree, exp.Not) and isinstance(tree.this, exp.Paren)
        return condition.removeprefix("NOT (")[:-1] if is_negated else f"NOT ({condition})"

    def _references(self, table: ServerTable) -> Iterator[str]:
        source = table.source
        actions: dict[tuple[str, ...], tuple[str, str, str]] = {}
        columns: dict[int, list[str]] = {}
        for number, parent, own, on_update, on_delete in self._connection.execute(
            'SELECT id, "table", "from", on_update, on_delete FROM pragma_foreign_key_list(?)'
            " ORDER BY id, seq",
            (source.name,),
        ):
            columns.setdefault(number, []).append(own.lower())
            actions[tuple(columns[number])] = parent, on_update, on_delete
        kept = {tuple(name.lower() for name in key.columns): key for key in source.foreign_keys}
        for names in map(tuple, columns.values()):
            parent, on_update, on_delete = actions[names]
            what = f"foreign key of {source.name} ({', '.join(names)}) to {parent}"
            key = kept.get(names)
            if key is None:
                self._leave_out(what, "stored rows break it, or it refers to no unique key")
            else:
                yield self._reference(table, key, what, (("UPDATE", on_update), ("DELETE", on_delete)))

    def _reference(
        self, table: ServerTable, key: ForeignKey, what: str, actions: Sequence[tuple[str, str]]
    ) -> str:
        parent = next(one for one in self._tables if one.source.name == key.parent)
        text = f"FOREIGN KEY ({self._names(table.spelled(key.columns))}) REFERENCES {self._name(parent.name)}"
        text += f" ({self._names(parent.spelled(key.parent_columns))})"
        for event, action in actions:
            if action in _ACTIONS and self._syntax.has_actions:
                text += f" ON {event} {action}"
            elif action != "NO ACTION":
                self._leave_out(f"ON {event} {action} of the {what}", "the target has no such action")
        return text

    # Indexes.

    def _indexes(self, table: ServerTable) -> Iterator[str]:
        for name, is_unique, is_partial in self._connection.execute(
            "SELECT name, \"unique\", partial FROM pragma_index_list(?) WHERE origin = 'c' ORDER BY seq DESC",
            (table.source.name,),
        ).fetchall():
            keys = self._connection.execute(
                'SELECT name, "desc" FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno', (name,)
            ).fetchall()
            what = f"index {name} of {table.source.name}"
            if any(column is None for column, _ in keys):
                self._leave_out(what, "it is over an expression")
                continue
            if is_unique and not is_partial:
                continue  # a UNIQUE of its table
            lacking = what if is_unique else f"WHERE of the {what}"
            condition = self._condition(name, table, lacking) if is_partial else ""
            if condition is None and is_unique:
                continue
            on = ", ".join(
                f"{self._indexed(table, column)}{' DESC' if descends else ''}" for column, descends in keys
            )
            unique = "UNIQUE " if is_unique else ""
            own = self._name(table_name(name, self._target))
            yield f"CREATE {unique}INDEX {own} ON {self._name(table.name)} ({on}){condition or ''}"

    def _indexed(self, table: ServerTable, column: str) -> str:
        [place] = [one for one in table.columns if one.source.name == column]
        is_cut = place.source.type in {PortableType.TEXT, PortableType.BLOB} and "varchar" not in place.type
        return self._name(place.name) + (self._syntax.indexed if is_cut else "")

    def _condition(self, index: str, table: ServerTable, what: str) -> str | None:
        """Return WHERE of a partial index; None if it has none here."""
        [(sql,)] = self._connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index,))
        start = f"SELECT 1 FROM {quoted(table.source.name)} WHERE "  # noqa: S608 - quoted
        if not self._syntax.has_partial_indexes:
            self._leave_out(what, "the target has no partial indexes")
            return None
        try:
            where = sqlglot.parse_one(sql, read="sqlite").find(exp.Where)
        except SqlglotError:
            where = None
        if where is None:
            self._leave_out(what, "its statement cannot be read")
            return None
        found = self._expression(where.this.sql("sqlite"), start, what)
        return None if found is None else f" WHERE {found}"
