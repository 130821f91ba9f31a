"""The result columns of a SELECT and their names. https://sqlite.org/lang_select.html."""

from sqlglot import exp

from dialects.compiler import Compiler
from dialects.errors import Untranslatable
from dialects.relation import LONGEST, new_name
from dialects.scope import Nest, Scope
from dialects.source import Starred
from dialects.typed import Typed

Result = tuple[str, exp.Expr, bool]
"""A result column: its name, as it is written, and whether it has an alias."""


def results_of(c: Compiler, node: exp.Select, scope: Scope) -> list[Result]:
    """The result columns as they are written, * spelled out."""
    results: list[Result] = []
    for item in node.expressions:
        if isinstance(item, exp.Star):
            c.applies("star")
            results += _star(scope, None)
        elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
            c.applies("star")
            results += _star(scope, item.table)
        elif isinstance(item, exp.Alias):
            results.append((item.alias, item.this, True))
        elif isinstance(item, exp.Column):
            results.append((item.name, item, False))
        else:
            results.append((_shown(item), item, False))
    return results


def _shown(item: exp.Expr) -> str:
    """SQLite's name for an expression without an alias: as it is written, more or less."""
    try:
        return item.sql(dialect="sqlite")
    except ValueError:
        return ""  # it has an operator that sqlglot does not write


def _star(scope: Scope, qualifier: str | None) -> list[Result]:
    """The columns of one source or of all; those of USING come once."""
    results: list[Result] = []
    there = False
    nests: list[Nest] = []
    for at, source in enumerate(scope.sources):
        if qualifier is not None and source.name.lower() != qualifier.lower():
            continue
        there = True
        if qualifier is None and source.nest is not None:
            if source.nest not in nests:
                nests.append(source.nest)
                results += _star_of_nest(scope, source.nest)
            continue
        for place, column in enumerate(source.columns):
            if qualifier is not None or column.name.lower() not in source.merged:
                results.append((column.name, Starred(source=at, column=place), False))
    if not there:
        raise Untranslatable("*" if qualifier is None else f"{qualifier}.*", "there is no such table in FROM")
    return results


def target_names(results: list[Result], values: list[Typed], *, derived: bool) -> list[str | None]:
    """The target's names of the result columns; where nobody asks for them only those that are written."""
    if not derived:
        return [name if explicit and name else None for name, _, explicit in results]
    names: list[str | None] = []
    taken: set[str] = set()
    for at, ((name, written, explicit), _) in enumerate(zip(results, values, strict=True)):
        plain = name if explicit or isinstance(written, exp.Column | Starred) else ""
        if not 0 < len(plain.encode()) <= LONGEST or plain.lower() in taken:
            plain = new_name(f"_c{at + 1}", taken)
        taken.add(plain.lower())
        names.append(plain)
    return names


def aliased(item: exp.Expr, name: str) -> exp.Expr:
    """`item` AS `name`."""
    return exp.Alias(this=item, alias=exp.to_identifier(name, quoted=True))


def _star_of_nest(scope: Scope, nest: Nest) -> list[Result]:
    """The columns of joins in parentheses."""
    if nest.shown is None:
        raise Untranslatable("*", "it shows shared columns of parentheses in parentheses")
    shown = [(scope.sources[at].columns[place].name, at, place) for at, place in nest.shown]
    return [
        (name, Starred(source=at, column=place), False)
        for name, at, place in shown if name.lower() not in scope.sources[at].merged
    ]  # fmt: skip
