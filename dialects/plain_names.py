"""Names as a person writes them: no quotes and no table before a column where the target needs neither.

The compiler quotes and qualifies every name, so that it need not know how a target reads it. `simplify`
removes what changes nothing: in a SELECT of one source a column's table, an alias that says the same as its
table, and quotes around words that the target reads as the same name.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from dialects.identifiers import ascii_lower
from dialects.targets import TargetFacts
from dialects.trees import find_all

_TAKEN = """
accessible add all alter analyse analyze and anti any array as asc asensitive asof asymmetric at
authorization before between bigint binary blob both by call cascade case cast change char character
check collate collation column concurrently condition constraint continue convert create cross cube
cume_dist current_catalog current_date current_role current_schema current_time current_timestamp
current_user cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare
default deferrable delayed delete delete_domain_id dense_rank desc describe deterministic distinct
distinctrow div do do_domain_ids double drop dual each else elseif empty enclosed end escaped except
exists exit explain external false fetch first_value float float4 float8 for force foreign freeze from
full fulltext function generated get glob grant group grouping groups having high_priority
hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ilike in index infile initially
inner inout insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into
io_after_gtids io_before_gtids is isnull iterate join json_table key keys kill lag lambda last_value
lateral lead leading leave left library like limit linear lines load localtime localtimestamp lock long
longblob longtext loop low_priority manual master_bind master_demote_to_replica master_demote_to_slave
master_ssl_verify_server_cert match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond
minute_second mod modifies natural no_write_to_binlog not notnull nth_value ntile null numeric of offset
on only optimize optimizer_costs option optionally or order out outer outfile over overlaps page_checksum
parallel parse_vcol_expr partition percent_rank pivot pivot_longer pivot_wider placing portion positional
precision primary procedure purge qualify range rank read read_write reads real recursive ref_system_id
references regexp release rename repeat replace require resignal restrict return returning revoke right
rlike rollup row row_number rows schema schemas second_microsecond select semi sensitive separator
session_user set show signal similar smallint some spatial specific sql sql_after_gtids sql_before_gtids
sql_big_result sql_buffer_result sql_cache sql_calc_found_rows sql_no_cache sql_small_result sqlexception
sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages stored
straight_join summarize symmetric system system_user table tablesample terminated then tinyblob tinyint
tinytext to trailing trigger true undo union unique unlock unpack unpivot unsigned update usage use user
using utc_date utc_time utc_timestamp values varbinary varchar varcharacter variadic varying vector
verbose virtual when where while window with write xor year_month zerofill
"""
_RESERVED = frozenset(_TAKEN.split())
"""Words that some version of a target reads as something else than the name of a table or column.

One table for all targets: quotes around a word too many are right everywhere.
"""

_NAMED = (exp.Column, exp.Table, exp.TableAlias, exp.Alias, exp.Join, exp.Ordered)
"""What an identifier names where its quotes may go: not a collation, for one."""

_SORTED = (exp.Query, exp.Window, exp.Func)
"""What has an ORDER BY."""


def simplify(node: exp.Expr, nodes: Mapping[type[exp.Expr], list[Any]], target: TargetFacts) -> None:
    """Simplify the names of a compiled query, in place: an identifier without quotes is marked `bare`.

    Args:
        node: the query.
        nodes: its nodes by type.
        target: the facts about the target.
    """
    selects, identifiers = nodes[exp.Select], nodes[exp.Identifier]
    folds = target.aliases_keep_case
    kept = _kept_names(node, selects, identifiers) if folds else frozenset()
    alike = ascii_lower if folds else str
    for select in reversed(selects):
        _drop_tables(select, alike)
    for table in nodes[exp.Table]:
        alias = table.args.get("alias")
        if alias is None or alias.args.get("columns") or alike(alias.name) != alike(table.name):
            continue
        if alias.name == table.name or _is_bare(alias.name, kept, folds=folds):
            table.set("alias", None)
    words = {name.this for name in identifiers}
    bare = {word for word in words if _is_bare(word, kept, folds=folds)}
    for name in identifiers:
        if name.this in bare and isinstance(name.parent, _NAMED) and not name.parent.args.get("columns"):
            name.set("bare", True)


def is_plain_word(name: str) -> bool:
    """True if a name needs no quotes on any target, where its case does not count."""
    return name.isascii() and name.isidentifier() and name.lower() not in _RESERVED


def _is_bare(name: str, kept: Collection[str], *, folds: bool) -> bool:
    if not is_plain_word(name):
        return False
    lower = name.lower()
    # Where table names keep their case, `_latin1` introduces a text of that character set.
    return (name == lower or lower not in kept) if folds else not name.startswith("_")


def _kept_names(
    node: exp.Expr, selects: Sequence[exp.Select], identifiers: Sequence[exp.Identifier]
) -> frozenset[str]:
    """Return, in lower case, the names whose case a target that folds names would lose.

    They are aliases of the result, the names of two columns of one SELECT that differ in case alone, and
    names at places that keep their quotes.
    """
    kept = {
        name.this.lower()
        for name in identifiers
        if not isinstance(name.parent, _NAMED) or name.parent.args.get("columns")
    }
    for query in _branches(node):
        kept.update(each.alias.lower() for each in query.expressions if isinstance(each, exp.Alias))
    for select in selects:
        names = {each.alias_or_name for each in select.expressions}
        folded = Counter(name.lower() for name in names)
        kept.update(name for name, count in folded.items() if count > 1)
    return frozenset(kept)


def _branches(node: exp.Expr) -> Iterator[exp.Select]:
    """Yield the SELECTs whose rows the result has."""
    if isinstance(node, exp.SetOperation):
        yield from _branches(node.this)
        yield from _branches(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _branches(node.this)
    elif isinstance(node, exp.Select):
        yield node


def _drop_tables(select: exp.Select, alike: Callable[[str], str]) -> None:
    """Drop the table before the columns of the only source, and then a made alias that nothing reads."""
    start = select.args.get("from_")
    if start is None or select.args.get("joins") or select.args.get("laterals"):
        return
    source = start.this
    if not isinstance(source, exp.Table | exp.Subquery) or source.args.get("joins"):
        return
    alias = source.alias_or_name
    computed = _computed_names(select) | _outer_names(select, alias)
    # PostgreSQL names a computed column after a function or a type, and ORDER BY looks there first.
    is_open = any(not isinstance(each, exp.Column | exp.Alias) for each in select.expressions)
    for column in list(_own_columns(select)):
        if column.table != alias or not isinstance(column.this, exp.Identifier):
            continue
        is_term = isinstance(column.parent, exp.Ordered) and column.parent.find_ancestor(*_SORTED) is select
        if not (is_open and is_term) and column.name.lower() not in computed:
            column.set("table", None)
    is_table = isinstance(source, exp.Table)
    if not is_table or not (alias.startswith("_") or alike(alias) == alike(source.name)):
        return
    taken = {alike(alias), alike(source.name)}
    if all(alike(column.table) not in taken for column in find_all(select, exp.Column)):
        source.set("alias", None)


def _own_columns(select: exp.Select) -> Iterator[exp.Column]:
    """Yield the columns that a SELECT reads outside its FROM, and outside subqueries."""
    return _columns_in(
        each
        for key, value in select.args.items()
        if key not in {"from_", "with_"} and value is not None
        for each in (value if isinstance(value, list) else [value])
        if isinstance(each, exp.Expr)
    )


def _columns_in(nodes: Iterable[exp.Expr]) -> Iterator[exp.Column]:
    """Yield the columns of expressions outside subqueries."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column):
            yield node
        elif not isinstance(node, exp.Query):
            waiting.extend(node.iter_expressions())


def _computed_names(select: exp.Select) -> frozenset[str]:
    """Return, in lower case, the aliases of everything but the column of that name."""
    return frozenset(
        each.alias.lower()
        for each in select.expressions
        if isinstance(each, exp.Alias)
        and not (isinstance(each.this, exp.Column) and ascii_lower(each.this.name) == ascii_lower(each.alias))
    )


def _outer_names(select: exp.Select, source: str) -> frozenset[str]:
    """Return, in lower case, the names of outer columns in the result, and their aliases.

    GROUP BY and ORDER BY, also of windows, look there, too.
    """
    outer = [column for column in _columns_in(select.expressions) if column.table not in {source, ""}]
    named = [*outer, *(each.parent for each in outer if isinstance(each.parent, exp.Alias))]
    return frozenset(each.alias_or_name.lower() for each in named)
