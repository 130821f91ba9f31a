"""Translate SQLite SQL to another dialect: the same rows, or an error that says why not.

On a target loaded in profile `faithful`, the SQL from `translate` returns the same rows as the text does on
SQLite: the same values, equally often, in the same order where ORDER BY decides it. If SQLite itself leaves
the result open, or if something is assumed, there is a warning; if the target cannot be exact,
`Untranslatable` is raised.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from dialects import versions
from dialects.base_generator import spell
from dialects.coercions import SEVERAL_TYPES
from dialects.compiler import Compiler, Rewrites
from dialects.enums import Dialect, ParamStyle
from dialects.errors import BadInput, TranslatorFault, Untranslatable
from dialects.lowerings import Nodes, lower
from dialects.nodes import Joined, Listed, Random, ServerCall
from dialects.parameters import BoundParameter, Parameters, numbered, placed
from dialects.plain_names import simplify
from dialects.rewrites import laterals, queries
from dialects.rewrites.aggregates import OuterAggregate
from dialects.rewrites.ctes import levels, recursions
from dialects.rewrites.expressions import HANDLERS, TRANSPARENT
from dialects.rewrites.parameters import decide
from dialects.rewrites.windows import share_windows
from dialects.schema import Schema
from dialects.scope import Relation
from dialects.source import foreign, parse, refuse_numbers, syntax_error
from dialects.tables import Tables, folded
from dialects.tagged_values import read_rows
from dialects.targets import TARGETS
from dialects.trees import by_type, first_select, has
from dialects.value_types import Kind

__all__ = ["Translation", "Untranslatable", "translate"]

_NO_SAMPLES: Mapping[str, object] = {}
_BITS = 64
"""Of an integer that SQLite holds."""
_REWRITES = Rewrites(HANDLERS, TRANSPARENT, queries.query)


@dataclass(frozen=True)
class Translation:
    """One SQL text in the target dialect."""

    sql: str
    target: Dialect
    rules: tuple[str, ...] = ()
    """The rewrites applied, in order; docs/reference/rewrites.md describes each."""
    warnings: tuple[str, ...] = ()
    """Results that SQLite leaves open, and assumptions, a sentence each; if empty, the rows are the same."""
    parameters: tuple[BoundParameter, ...] = ()
    """The parameters, in the order in which the driver is given their values; see `bind`."""
    style: ParamStyle | None = None
    """How they are written; None without parameters."""
    decided: Mapping[str, object] = field(default_factory=dict)
    """Parameters whose values the translation is for, and no others; `bind` refuses them."""
    json_columns: tuple[int, ...] = ()
    """Result columns, counted from 0, whose values are JSON, since they hold numbers and texts."""

    @property
    def leaves_open(self) -> bool:
        """True if rows may differ from SQLite's: a warning is about more than values given as JSON."""
        return len(self.warnings) > len(self.json_columns)

    def bind(self, values: Mapping[str, object] | Sequence[object]) -> list[object] | dict[str, object]:
        """Return what the driver is given for the values that SQLite's text takes.

        Args:
            values: by the names of `:name` or the numbers of `?1`, as texts; or a sequence for `?`.

        Returns:
            A value for each place, or the values by name, as `style` takes them.

        Raises:
            KeyError: a parameter has no value.
            BadInput: the translation is for another value, or for reals and the value is an integer that
                double precision rounds.
        """
        given = values.items() if isinstance(values, Mapping) else enumerate(values, 1)
        # SQLite has no booleans: its drivers bind them as integers.
        named = {str(name): int(one) if isinstance(one, bool) else one for name, one in given}
        for name, value in self.decided.items():
            if named[name] != value:
                raise BadInput(f"the parameter {name}: this translation is for {value!r}; make another one")
        for each in self.parameters:
            value = named[each.name]
            if each.kind is Kind.REAL and isinstance(value, int) and _rounds(value):
                raise BadInput(f"the parameter {each.name}: a real rounds {value}; give it as a sample value")
        if self.style is not None and not self.style.is_by_place and self.style is not ParamStyle.NUMERIC:
            return {each.key: named[each.name] for each in self.parameters}
        return [named[each.name] for each in self.parameters]

    def read(self, rows: Iterable[Sequence[object]]) -> tuple[tuple[object, ...], ...]:
        """Return rows from a driver with the JSON of `json_columns` read back into values."""
        return read_rows(rows, self.json_columns)


def translate(  # noqa: PLR0913 - what a translation depends on
    sql: str,
    schema: Schema,
    target: Dialect,
    *,
    as_json: bool = True,
    samples: Mapping[str, object] = _NO_SAMPLES,
    style: ParamStyle | None = None,
    without: frozenset[str] = frozenset(),
) -> Translation:
    """Translate one SQLite query.

    Args:
        sql: a SELECT, VALUES or compound SELECT in SQLite's SQL.
        schema: the census of its database, from `loaders.file_census`.
        target: the dialect; for SQLite the text is returned unchanged.
        as_json: whether a result column that holds numbers and texts may give each value as JSON.
        samples: a value for parameters whose type no place tells, by name or number, or where others than
            the place tells are bound.
        style: how parameters are written; by default as the target's common driver takes them, by place
            for `?` and by name for others.
        without: lowerings that are left out, to see what they are for; see `dialects.lowerings`.

    Raises:
        Untranslatable: the text is not such a query, names something that the schema lacks, or has no exact
            equivalent on the target.
        TranslatorFault: the translator itself failed; the error names the text, and asks for a report.
        BadInput: the target does not allow the names of the schema.
    """
    if target is Dialect.SQLITE:
        return Translation(sql, target)
    try:
        sql, parameters = numbered(sql, samples)
        found = _translated(sql, schema, target, parameters, without, as_json=as_json)
        if parameters.decide_missing() or parameters.unknown.keys() & parameters.kinds.keys():
            found = _translated(sql, schema, target, parameters, without, as_json=as_json)
        _refuse_unknown(parameters)
        if not parameters.names:
            return found
        by_name = not all(map(str.isdecimal, parameters.names))
        style = style or TARGETS[target].styles[by_name]
        text, bound = placed(found.sql, parameters, style)
        return replace(found, sql=text, parameters=bound, style=style, decided=dict(parameters.decided))
    except Untranslatable as error:
        if why := foreign(sql):
            raise Untranslatable(error.construct, f"{error.reason}; {why}", error.position) from error
        raise
    except BadInput:
        raise
    except Exception as error:
        # A text that nobody has thought of must not end the work on others.
        if refused := syntax_error(sql):
            why = foreign(sql)
            raise Untranslatable(
                "the statement", f"SQLite refuses it: {refused}" + (f"; {why}" if why else "")
            ) from error
        fault = f"the translator failed ({type(error).__name__}: {error}); please report it with the text:"
        raise TranslatorFault("the statement", f"{fault} {' '.join(sql.split())}") from error


def _rounds(number: int) -> bool:
    """True if double precision does not hold an integer."""
    return number.bit_length() > _BITS or float(number) != number


def _refuse_unknown(parameters: Parameters) -> None:
    told = parameters.kinds.keys() | parameters.decided.keys()
    unknown = [name for name in parameters.unknown if name not in told]
    if unknown:
        reason = "its place does not tell its type; give a sample value, --param"
        raise Untranslatable(f"the parameter {unknown[0]}", f"{reason} {unknown[0]}=VALUE")


def _translated(  # noqa: PLR0913 - what a translation depends on
    sql: str,
    schema: Schema,
    target: Dialect,
    parameters: Parameters,
    without: frozenset[str],
    *,
    as_json: bool,
) -> Translation:
    tree = parse(sql)
    decide(tree, parameters)
    compiler = Compiler(_tables(schema, target), sql, tree, _REWRITES, parameters, without=without)
    refuse_numbers(sql, compiler.nodes[exp.Identifier])
    try:
        relation = compiler.query(tree, None)
        # A text that SQLite rejects has no meaning to keep, even if the compiler found one.
        _ = compiler.plan
        nodes = by_type(relation.node)
        _add_hints(compiler, relation.node, nodes)
        if (changed := laterals.merged(compiler, relation.node, nodes)) is not relation.node:
            relation.node, nodes = changed, by_type(changed)
        _refuse_depth(compiler, relation.node)
        if share_windows(compiler, nodes):
            nodes = by_type(relation.node)
        _refuse_width(compiler, nodes[exp.Select])
        _refuse_repetition(compiler, nodes[exp.Select])
        if any(clause.recursive for clause in nodes[exp.With]):
            _refuse_recursions(compiler, relation.node)
        _refuse_copies(compiler, nodes[Random])
        called = frozenset(call.this for call in nodes[ServerCall])
        for sentence in versions.warnings(called, frozenset(compiler.changed)):
            compiler.warn(sentence)
        columns = _json_columns(compiler, relation, as_json=as_json)
        simplify(relation.node, nodes, compiler.target)
        text = spell(lower(relation.node, target, nodes, without), target)
        _refuse_length(text, sql)
    except OuterAggregate as error:
        raise Untranslatable(f"{error}()", "its argument belongs to an outer SELECT") from error
    except RecursionError as error:
        raise Untranslatable("the statement", "it is nested too deeply") from error
    except Untranslatable:
        raise
    except Exception:
        # SQLite's own objection is the better message: it raises `Untranslatable` if there is one.
        _ = compiler.plan
        raise
    rules, warnings = tuple(compiler.rules), tuple(compiler.warnings)
    return Translation(text, target, rules, warnings, json_columns=columns)


def _add_hints(c: Compiler, node: exp.Expr, nodes: Nodes) -> None:
    few = c.most("planning-limit")
    if few is not None and len(nodes[exp.Table]) > few:
        c.hint("planning-limit")
    if c.lowers("sorting-limit") and c.long_texts and _sorts_long_texts(c, nodes):
        c.hint("sorting-limit")
    first = first_select(node)
    if c.hints and isinstance(first, exp.Select):
        first.set("hint", exp.Hint(expressions=[exp.Var(this=hint) for hint in c.hints]))


def _refuse_length(text: str, sql: str) -> None:
    if len(text) > max(_LONGEST, _LONGER * len(sql)):
        raise Untranslatable("the statement", f"its translation has {len(text):,} characters")


def _json_columns(c: Compiler, relation: Relation, *, as_json: bool) -> tuple[int, ...]:
    columns = tuple(at for at, column in enumerate(relation.columns) if column.value.tagged is not None)
    if columns and not as_json:
        raise Untranslatable(SEVERAL_TYPES, "a column of the target holds numbers or texts, not both")
    for at in columns:
        c.warn(f"column {at + 1} holds numbers and texts: each value is given as JSON")
    return columns


def _refuse_depth(c: Compiler, node: exp.Expr) -> None:
    most = c.most("nested-selects")
    if most is not None and c.queries > most and levels(node, {}) > most:
        raise Untranslatable("the statement", f"{c.target.title} nests no more than {most} SELECTs")


_LONGEST, _LONGER = 500_000, 8
"""How long a translation may be in any case, and compared with the statement."""

_REPEATED = 8
"""How often the SELECTs of a statement may be written in any case, in the mean."""


def _refuse_repetition(c: Compiler, selects: Sequence[exp.Select]) -> None:
    most = c.most("repeated-subqueries")
    if most is not None and len(selects) > max(most, _REPEATED * len(c.nodes[exp.Select])):
        raise Untranslatable(
            "the statement", f"it repeats subqueries for which {c.target.title} has no memory"
        )


def _refuse_recursions(c: Compiler, node: exp.Expr) -> None:
    most = c.most("recursive-references")
    if most is not None and recursions(node, {}) > most:
        raise Untranslatable("WITH RECURSIVE", f"{c.target.title} reads it no more than {most} times")


def _refuse_copies(c: Compiler, values: Sequence[Random]) -> None:
    """Reject an expression with random() that the translation repeats: it would have two values."""
    calls = [call for call in c.nodes[exp.Anonymous] if call.name.lower() == "random"]
    if len(values) > len(calls):
        raise Untranslatable("random()", "its value is needed more than once")


def _refuse_width(c: Compiler, selects: Sequence[exp.Select]) -> None:
    most = c.most("joined-tables")
    if most is not None and any(len(one.args.get("joins") or []) >= most for one in selects):
        raise Untranslatable("FROM", f"{c.target.title} joins no more than {most} tables")


_KNOWN: dict[tuple[int, Dialect], tuple[Schema, Tables]] = {}
"""Keyed by identity: comparing schemas costs more than compiling a query. A cached schema keeps its id."""

_MOST_KNOWN = 256


def _tables(schema: Schema, target: Dialect) -> Tables:
    """Return the tables on the target, from the cache if possible."""
    key = id(schema), target
    found = _KNOWN.get(key)
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = schema, Tables(schema, target)
    return found[1]


def _sorts_long_texts(c: Compiler, nodes: Nodes) -> bool:
    """Whether long texts are sorted for windows or lists, in joined rows, or where one is made of several."""
    if nodes[exp.Window] or nodes[Listed] or any(has(term, Joined) for term in nodes[exp.Ordered]):
        return True
    are_several = any(nodes[kind] for kind in (exp.Join, exp.Union, exp.Except, exp.Intersect))
    if not are_several or not nodes[exp.Ordered]:
        return False
    read = {folded(column.name.rpartition(".")[2]) for column in nodes[exp.Column]}
    return bool(read & c.long_texts)
