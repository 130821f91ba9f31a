"""SQLite's functions, one row each: what they take and return, and how each is translated.

The compiler and the rewrites look functions up here and nowhere else. A row without `rewrite` says all of it:
its `form` is the target's own function, or an expression. Examples are over the rows of `EXAMPLES`; tests run
each of them on SQLite and, translated, on every target.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from sqlglot import exp

from dialects.nodes import Bigint, Lower, Upper, number, server
from dialects.value_types import Kind


class Role(StrEnum):
    """Where a function may be called."""

    SCALAR = "scalar"
    AGGREGATE = "aggregate"
    WINDOW = "window"
    TABLE = "table"
    """In FROM."""


@dataclass(frozen=True, eq=False)
class Function:
    """One function of SQLite's, for calls with `least` to `most` arguments; without `most`, any number."""

    names: tuple[str, ...]
    least: int
    most: int | None
    result: Kind
    """ANY if it depends on the arguments or on the data."""
    example: str
    gives: object = None
    """The value of the example for the first row of `EXAMPLES`; of an aggregate, for all of them."""
    role: Role = Role.SCALAR
    source: str = ""
    """The place of https://sqlite.org that defines it."""
    rewrite: str | None = None
    """The function that compiles calls: its module below `dialects.rewrites`, and its name."""
    form: str | Callable[..., exp.Expr] | None = None
    """In place of `rewrite`: the name of the targets' function, or what builds an expression.

    `TargetFacts.natives` has other names."""
    takes: tuple[Kind | None, ...] = ()
    """The kinds that `form` converts arguments to, TEXT or REAL, and that parameters have.

    The last kind is that of all further arguments. ANY is the kind of the other arguments."""
    low: float | None = None
    high: float | None = None
    """Bounds of the result of `form`."""
    domain: Callable[[exp.Expr], exp.Expr] | None = None
    """Where `form` holds; SQLite returns NULL elsewhere."""
    nulls: bool = False
    """`form` may be NULL without a NULL among the arguments."""
    rule: str | None = None
    """The name of the change that `form` makes; see docs/reference/rewrites.md."""
    refused: str | None = None
    """Why no target has it. A call of constants is its value, even then."""
    strict: bool = True
    """NULL among the arguments makes the result NULL."""
    foldable: bool = True
    """Constant arguments make the result a constant."""
    raw: bool = False
    """`rewrite` takes the arguments as they are: of several kinds, constant or NULL."""
    as_written: bool = False
    """`rewrite` takes the call itself, in its scope."""
    volatile: bool = False
    """It can return different values for the same arguments."""
    prints: bool = False
    """Its text may have digits of a number, or of a text, among its arguments."""
    constant: tuple[str, slice] | None = None
    """What arguments must be constants, and which they are."""
    framed: bool = True
    """A window function's result depends on the frame."""
    is_json: bool | None = None
    """SQLite takes the result for JSON: always, or never. None if it depends, or is no JSON function."""

    @property
    def url(self) -> str:
        """Return the address of the definition."""
        return f"https://sqlite.org/{self.source}"

    @property
    def lists(self) -> bool:
        """True for an aggregate that builds a list, for which the order of rows matters."""
        return self.role is Role.AGGREGATE and self.result is Kind.TEXT

    @property
    def is_json_function(self) -> bool:
        """True if it reads or writes JSON."""
        return self.source.startswith("json1")

    def refused_for(self, arguments: int) -> str | None:
        """Return why a call with so many arguments has no translation; None if it may have one."""
        if self.refused is not None:
            return self.refused
        if self.role is not Role.SCALAR:
            return f"it is {'an' if self.role is Role.AGGREGATE else 'a'} {self.role} function"
        return None if self.accepts(arguments) else f"SQLite has no such function with {arguments} arguments"

    def accepts(self, arguments: int) -> bool:
        """Return whether it takes so many arguments."""
        return self.least <= arguments and (self.most is None or arguments <= self.most)

    def takes_at(self, place: int) -> Kind | None:
        """Return what the argument at a place, from 0, is converted to; None if unknown."""
        return self.takes[min(place, len(self.takes) - 1)] if self.takes else None


EXAMPLES = """
CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, d DATE, j TEXT);
INSERT INTO t VALUES
  (1, 7, 2.345, 'Hello World', '2011-02-28', '{"a":[1,2.5],"b":"x"}'),
  (2, -3, 0.5, 'it''s', '1999-12-31', '[]'),
  (3, NULL, NULL, NULL, NULL, NULL);
"""

INTEGER, REAL, TEXT, BLOB, ANY = Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BLOB, Kind.ANY


def _row(  # noqa: PLR0913, PLR0917 - the columns that each row has
    names: str, least: int, most: int | None, result: Kind, example: str, gives: object = None, **more: object
) -> Function:
    return Function(tuple(names.split()), least, most, result, example, gives, **more)  # type: ignore[arg-type]


def _on(page: str, *rows: Function, **common: object) -> Iterator[Function]:
    """Yield the rows with the page that defines them, and what else they have in common."""
    for row in rows:
        source = row.source or f"#{row.names[0]}" if "#" not in page else ""
        source = f"{page}{source}" if source.startswith("#") else source or page
        yield replace(row, source=source, **common)  # type: ignore[arg-type]


def _real(name: str, gives: float, domain: Callable[[exp.Expr], exp.Expr] | None = None,
          example: str = "{}(r)", names: str = "") -> Function:  # fmt: skip
    """Return a function of one REAL that targets have under its own name."""
    return _row(names or name, 1, 1, REAL, example.format(name), gives, form=name.upper(), takes=(REAL,),
                domain=domain)  # fmt: skip


def _at_least(least: int, x: exp.Expr) -> exp.Expr:
    return exp.GTE(this=x, expression=number(least))


def _above_zero(x: exp.Expr) -> exp.Expr:
    return exp.GT(this=x, expression=number(0))


def _unit(x: exp.Expr) -> exp.Expr:
    return exp.Between(this=x, low=number(-1), high=number(1))


_WRITTEN_BEFORE = "it depends on what the connection wrote before, not on the data"
_FULL_TEXT = "it searches a full-text index of SQLite's, which the target does not have"
_ITSELF = "it is about SQLite itself, not about the data"
NEEDS_EXTENSION = "SQLite has it only with an extension"
_SEPARATOR = ("a separator", slice(1, 2))
_FORMAT = ("a format", slice(0, 1))
_PATHS = ("a path", slice(1, None, 2))

# fmt: off
FUNCTIONS: tuple[Function, ...] = (
    *_on("lang_corefunc.html",
        _row("abs", 1, 1, ANY, "abs(i - 10)", 3, rewrite="numeric.absolute", takes=(REAL,)),
        _row("char", 0, None, TEXT, "char(65, 66)", "AB", strict=False, takes=(None, INTEGER),
             constant=("a character", slice(None)),
             refused="servers map numbers to other characters than SQLite does"),
        _row("coalesce", 2, None, ANY, "coalesce(i, 0)", 7, rewrite="functions.coalesce", raw=True,
             strict=False, takes=(ANY,)),
        _row("glob", 2, 2, INTEGER, "glob('H*o', s)", 0, rewrite="text.glob_call", raw=True, takes=(TEXT,)),
        _row("hex", 1, 1, TEXT, "hex(s)", "48656C6C6F20576F726C64", rewrite="text.hexadecimal", strict=False),
        _row("ifnull", 2, 2, ANY, "ifnull(s, '')", "Hello World", rewrite="functions.coalesce", raw=True,
             strict=False, takes=(ANY,)),
        _row("iif", 3, 3, ANY, "iif(i > 0, s, d)", "Hello World", rewrite="functions.iif", raw=True,
             strict=False, takes=(ANY,)),
        _row("instr", 2, 2, INTEGER, "instr(s, 'o')", 5, rewrite="text.instr", takes=(TEXT,)),
        _row("length", 1, 1, INTEGER, "length(s)", 11, rewrite="text.length", takes=(TEXT,)),
        _row("like", 2, 3, INTEGER, "like('h%', s)", 1, rewrite="text.like_call", raw=True, takes=(TEXT,)),
        _row("likelihood", 2, 2, ANY, "likelihood(i, 0.5)", 7, rewrite="functions.likely", raw=True,
             strict=False),
        _row("likely unlikely", 1, 1, ANY, "likely(i)", 7, rewrite="functions.likely", raw=True),
        _row("lower", 1, 1, TEXT, "lower(s)", "hello world", form=lambda x: Lower(this=x), takes=(TEXT,),
             rule="ascii-case", prints=True),
        _row("ltrim", 1, 2, TEXT, "ltrim(s, 'He')", "llo World", rewrite="text.ltrim", takes=(TEXT,),
             prints=True),
        _row("max", 2, None, ANY, "max(i, 10)", 10, source="#max_scalar", rewrite="functions.greatest",
             raw=True, takes=(ANY,)),
        _row("min", 2, None, ANY, "min(s, d)", "2011-02-28", source="#min_scalar", rewrite="functions.least",
             raw=True, takes=(ANY,)),
        _row("nullif", 2, 2, ANY, "nullif(i, 7)", None, rewrite="functions.nullif", raw=True, strict=False,
             takes=(ANY,)),
        _row("printf format", 1, None, TEXT, "printf('%05.1f', r)", "002.3", rewrite="numeric.printf",
             strict=False, prints=True, constant=_FORMAT),
        _row("quote", 1, 1, TEXT, "quote(s)", "'Hello World'", rewrite="text.quote", strict=False,
             prints=True),
        _row("random", 0, 0, INTEGER, "random() IS NOT NULL", 1, rewrite="numeric.random", raw=True,
             volatile=True),
        _row("randomblob", 1, 1, BLOB, "length(randomblob(i))", 7, volatile=True,
             refused="it returns other bytes each time"),
        _row("replace", 3, 3, TEXT, "replace(s, 'l', 'L')", "HeLLo WorLd", rewrite="text.replace",
             strict=False, takes=(TEXT,), prints=True),
        _row("round", 1, 2, REAL, "round(r, 1)", 2.3, rewrite="numeric.rounded", takes=(REAL, INTEGER)),
        _row("rtrim", 1, 2, TEXT, "rtrim(s, 'dl')", "Hello Wor", rewrite="text.rtrim", takes=(TEXT,),
             prints=True),
        _row("sign", 1, 1, INTEGER, "sign(r)", 1, form=lambda x: Bigint(this=exp.Sign(this=x)), takes=(REAL,),
             low=-1, high=1),
        _row("soundex", 1, 1, TEXT, "soundex(s)", "H464", strict=False,
             refused="targets have none, or another one of that name"),
        _row("substr substring", 2, 3, TEXT, "substr(s, -3)", "rld", rewrite="text.substr",
             takes=(TEXT, INTEGER), prints=True),
        _row("trim", 1, 2, TEXT, "trim(s, 'Hd')", "ello Worl", rewrite="text.trim", takes=(TEXT,),
             prints=True),
        _row("typeof", 1, 1, TEXT, "typeof(i)", "integer", rewrite="text.typeof", raw=True, strict=False),
        _row("unicode", 1, 1, INTEGER, "unicode(s)", 72, form=partial(server, "unicode_of"), takes=(TEXT,),
             low=0, high=0x10FFFF, nulls=True),
        _row("upper", 1, 1, TEXT, "upper(s)", "HELLO WORLD", form=lambda x: Upper(this=x), takes=(TEXT,),
             rule="ascii-case", prints=True),
        _row("zeroblob", 1, 1, BLOB, "length(zeroblob(i))", 7, strict=False,
             refused="servers limit the length of a blob that they compute"),
    ),
    *_on("lang_corefunc.html",
        _row("changes", 0, 0, INTEGER, "changes() >= 0", 1, refused=_WRITTEN_BEFORE),
        _row("last_insert_rowid", 0, 0, INTEGER, "last_insert_rowid() >= 0", 1, refused=_WRITTEN_BEFORE),
        _row("load_extension", 1, 2, ANY, "", refused="it loads code into SQLite"),
        _row("sqlite_log", 2, 2, ANY, "", source="c3ref/log.html", refused="it writes to SQLite's log"),
        _row("total_changes", 0, 0, INTEGER, "total_changes() >= 0", 1, refused=_WRITTEN_BEFORE),
        volatile=True,
    ),
    *_on("lang_corefunc.html",
        _row("sqlite_compileoption_get", 1, 1, TEXT, "sqlite_compileoption_get(i) > ''", 1, refused=_ITSELF),
        _row("sqlite_compileoption_used", 1, 1, INTEGER, "sqlite_compileoption_used(s)", 0, refused=_ITSELF),
        _row("sqlite_source_id", 0, 0, TEXT, "sqlite_source_id() > ''", 1, refused=_ITSELF),
        _row("sqlite_version", 0, 0, TEXT, "sqlite_version() > '3'", 1, refused=_ITSELF),
        _row("subtype", 1, 1, INTEGER, "subtype(json(j))", 74, source="c3ref/value_subtype.html",
             strict=False, refused="a target's values have no subtype"),
        _row("regexp", 2, 2, INTEGER, "", source="lang_expr.html#regexp", refused=NEEDS_EXTENSION),
        _row("rtreecheck", 1, None, TEXT, "",
             source="rtree.html#integrity_checks_using_the_rtreecheck_sql_function", refused=_ITSELF),
        _row("rtreedepth rtreenode", 1, 2, TEXT, "", source="rtree.html", refused=_ITSELF),
    ),
    *_on("fts5.html",
        _row("match", 2, 2, INTEGER, "", source="lang_expr.html#match"),
        _row("bm25", 1, None, REAL, "", source="#the_bm25_function"),
        _row("highlight", 4, None, TEXT, "", source="#the_highlight_function"),
        _row("snippet", 1, None, TEXT, "", source="#the_snippet_function"),
        _row("matchinfo", 1, 2, BLOB, "", source="fts3.html#matchinfo"),
        _row("offsets", 1, 1, TEXT, "", source="fts3.html#the_offsets_function"),
        _row("optimize", 1, 1, TEXT, "", source="fts3.html#*fts4optcmd"),
        _row("fts3_tokenizer", 1, 2, BLOB, "", source="fts3.html#custom_tokenizers"),
        _row("fts5", 1, 1, ANY, "", source="#extending_fts5"),
        _row("fts5_source_id", 0, 0, TEXT, "", source="fts5.html"),
        refused=_FULL_TEXT,
    ),
    *_on("lang_mathfunc.html",
        _real("acos", 1.5707963267948966, _unit, "{}(i - 7)"),
        _real("acosh", 1.4965134222, partial(_at_least, 1)),
        _real("asin", 0.0, _unit, "{}(i - 7)"),
        _real("asinh", 1.5880750500),
        _real("atan", 1.1677072684),
        _row("atan2", 2, 2, REAL, "atan2(i, r)", 1.2475465231, form="ATAN2", takes=(REAL,)),
        _row("atanh", 1, 1, REAL, "atanh(i - 7)", 0.0,
             refused="at -1 and 1 it is infinite, which servers do not return"),
        _row("ceil ceiling", 1, 1, ANY, "ceil(r)", 3.0, rewrite="numeric.ceil", takes=(REAL,)),
        _real("cos", -0.6991469409),
        _real("cosh", 5.26455996484),
        _real("degrees", 134.35860295818),
        _real("exp", 10.43327272755),
        _row("floor", 1, 1, ANY, "floor(r)", 2.0, rewrite="numeric.floor", takes=(REAL,)),
        _real("ln", 0.8522854019, _above_zero),
        _real("log10", 0.3701428471, _above_zero, "log(r)", "log10 log"),
        _row("log", 2, 2, REAL, "log(2, r)", 1.2295879227, rewrite="numeric.logarithm", takes=(REAL,)),
        _row("log2", 1, 1, REAL, "log2(r)", 1.2295879227, rewrite="numeric.log2", takes=(REAL,)),
        _row("mod", 2, 2, REAL, "mod(i, 4)", 3.0, rewrite="numeric.mod", takes=(REAL,)),
        _row("pi", 0, 0, REAL, "pi() + 0 * i", 3.141592653589793, rewrite="numeric.pi", raw=True),
        _row("power pow", 2, 2, REAL, "power(i, 2)", 49.0, source="#pow", rewrite="numeric.power",
             takes=(REAL,)),
        _real("radians", 0.0409279710),
        _real("sin", 0.7149780101),
        _real("sinh", 5.16871276271),
        _real("sqrt", 1.5313392831, partial(_at_least, 0)),
        _real("tan", -1.0226434076),
        _real("tanh", 0.9817938816),
        _row("trunc", 1, 1, ANY, "trunc(-r)", -2.0, rewrite="numeric.trunc", takes=(REAL,)),
    ),
    *_on("lang_datefunc.html#overview",
        _row("date", 0, None, TEXT, "date(d, '+1 month')", "2011-03-28", rewrite="dates.date"),
        _row("time", 0, None, TEXT, "time(d, '+90 minutes')", "01:30:00", rewrite="dates.time"),
        _row("datetime", 0, None, TEXT, "datetime(d)", "2011-02-28 00:00:00", rewrite="dates.datetime"),
        _row("julianday", 0, None, REAL, "julianday(d)", 2455620.5, rewrite="dates.julianday"),
        _row("unixepoch", 0, None, INTEGER, "unixepoch(d)", 1298851200, rewrite="dates.unixepoch"),
        _row("strftime", 1, None, TEXT, "strftime('%m/%Y', d)", "02/2011", rewrite="dates.strftime"),
        _row("current_date", 0, 0, TEXT, "current_date > '2000'", 1, rewrite="dates.date"),
        _row("current_time", 0, 0, TEXT, "current_time >= '00'", 1, rewrite="dates.time"),
        _row("current_timestamp", 0, 0, TEXT, "current_timestamp > '2000'", 1, rewrite="dates.datetime"),
        volatile=True, foldable=False, takes=(TEXT,),
    ),
    *_on("json1.html",
        _row("json", 1, 1, TEXT, "json(j)", '{"a":[1,2.5],"b":"x"}', source="#jmini", rewrite="json.json",
             takes=(TEXT,), is_json=True),
        _row("json_array_length", 1, 2, INTEGER, "json_array_length(j, '$.a')", 2, source="#jarraylen",
             rewrite="json.json_array_length", takes=(TEXT,), constant=_PATHS, is_json=False),
        _row("->", 2, 2, TEXT, "j -> '$.a'", "[1,2.5]", source="#jptr", rewrite="json.arrow", is_json=True),
        _row("->>", 2, 2, ANY, "j ->> '$.b'", "x", source="#jptr", rewrite="json.arrow_value", is_json=False),
        _row("json_extract", 2, None, ANY, "json_extract(j, '$.a[1]')", 2.5, source="#jex",
             rewrite="json.json_extract", takes=(TEXT,)),
        _row("json_patch", 2, 2, TEXT, """json_patch(j, '{"a":null}')""", '{"b":"x"}', source="#jpatch",
             rewrite="json.json_patch", takes=(TEXT,), is_json=True),
        _row("json_remove", 1, None, TEXT, "json_remove(j, '$.a')", '{"b":"x"}', source="#jrm",
             rewrite="json.json_remove", takes=(TEXT,), constant=("a path", slice(1, None)), is_json=True),
        _row("json_type", 1, 2, TEXT, "json_type(j, '$.a')", "array", source="#jtype",
             rewrite="json.json_type", takes=(TEXT,), constant=_PATHS, is_json=False),
        _row("json_valid", 1, 1, INTEGER, "json_valid(j)", 1, source="#jvalid", rewrite="json.json_valid",
             strict=False, takes=(TEXT,), is_json=False),
        _row("json_group_array", 1, 1, TEXT, "json_group_array(i)", "[7,-3,null]", source="#jgrouparray",
             role=Role.AGGREGATE, is_json=True),
        _row("json_group_object", 2, 2, TEXT, "json_group_object(id, i)", '{"1":7,"2":-3,"3":null}',
             source="#jgroupobject", role=Role.AGGREGATE, is_json=True),
        _row("json_each", 1, 2, ANY, "(SELECT max(value) FROM json_each(j, '$.a'))", 2.5, source="#jeach",
             role=Role.TABLE, rewrite="json.rows", takes=(TEXT,), constant=_PATHS),
        _row("json_tree", 1, 2, ANY, "(SELECT count(*) FROM json_tree(j))", 5, source="#jtree",
             role=Role.TABLE, rewrite="json.rows", takes=(TEXT,), constant=_PATHS),
        prints=True,
    ),
    *_on("json1.html",
        _row("json_array", 0, None, TEXT, "json_array(i, s)", '[7,"Hello World"]', source="#jarray"),
        _row("json_insert", 1, None, TEXT, "json_insert(j, '$.c', i)", '{"a":[1,2.5],"b":"x","c":7}',
             source="#jins", takes=(TEXT,), constant=_PATHS),
        _row("json_object", 0, None, TEXT, "json_object('i', i)", '{"i":7}', source="#jobj"),
        _row("json_replace", 1, None, TEXT, "json_replace(j, '$.b', i)", '{"a":[1,2.5],"b":7}',
             source="#jins", takes=(TEXT,), constant=_PATHS),
        _row("json_set", 1, None, TEXT, "json_set(j, '$.a', s)", '{"a":"Hello World","b":"x"}',
             source="#jins", takes=(TEXT,), constant=_PATHS),
        _row("json_quote", 1, 1, TEXT, "json_quote(s)", '"Hello World"', source="#jquote"),
        rewrite="json.build", as_written=True, strict=False, is_json=True, prints=True,
    ),
    *_on("lang_aggfunc.html",
        _row("avg", 1, 1, REAL, "avg(i)", 2.0),
        _row("count", 0, 1, INTEGER, "count(i)", 2),
        _row("group_concat", 1, 2, TEXT, "group_concat(s, '; ')", "Hello World; it's", prints=True,
             constant=_SEPARATOR),
        _row("string_agg", 2, 2, TEXT, "", constant=_SEPARATOR, source="#group_concat"),
        _row("max", 1, 1, ANY, "max(s)", "it's", source="#max_agg", takes=(ANY,)),
        _row("min", 1, 1, ANY, "min(r)", 0.5, source="#min_agg", takes=(ANY,)),
        _row("sum", 1, 1, ANY, "sum(i)", 4, source="#sumunc"),
        _row("total", 1, 1, REAL, "total(i)", 4.0, source="#sumunc"),
        role=Role.AGGREGATE,
    ),
    *_on("windowfunctions.html#builtins",
        _row("row_number", 0, 0, INTEGER, "row_number() OVER (ORDER BY r DESC)", 1, form="ROW_NUMBER", low=1),
        _row("rank", 0, 0, INTEGER, "rank() OVER (ORDER BY r DESC)", 1, form="RANK", low=1),
        _row("dense_rank", 0, 0, INTEGER, "dense_rank() OVER (ORDER BY r DESC)", 1, form="DENSE_RANK", low=1),
        _row("percent_rank", 0, 0, REAL, "percent_rank() OVER (ORDER BY id DESC)", 1.0, form="PERCENT_RANK",
             low=0, high=1),
        _row("cume_dist", 0, 0, REAL, "cume_dist() OVER (ORDER BY id DESC)", 1.0, form="CUME_DIST", low=0,
             high=1),
        _row("ntile", 1, 1, INTEGER, "ntile(2) OVER (ORDER BY id)", 1, rewrite="windows.groups",
             constant=("a number of groups", slice(0, 1))),
        _row("lag", 1, 3, ANY, "lag(i) OVER (ORDER BY id DESC)", -3, rewrite="windows.pick",
             takes=(None, INTEGER)),
        _row("lead", 1, 3, ANY, "lead(s, 1, '') OVER (ORDER BY id)", "it's", rewrite="windows.pick",
             takes=(None, INTEGER)),
        role=Role.WINDOW, framed=False,
    ),
    *_on("windowfunctions.html#builtins",
        _row("first_value", 1, 1, ANY, "first_value(i) OVER (ORDER BY id)", 7, rewrite="windows.pick"),
        _row("last_value", 1, 1, ANY, "last_value(i) OVER (ORDER BY id)", 7, rewrite="windows.pick"),
        _row("nth_value", 2, 2, ANY, "nth_value(i, 1) OVER (ORDER BY id)", 7, rewrite="windows.pick",
             takes=(None, INTEGER)),
        role=Role.WINDOW,
    ),
    *_on("pragma.html#pragfunc",
        _row("pragma_table_info", 1, 2, ANY, "(SELECT count(*) FROM pragma_table_info('t'))", 6),
        _row("pragma_table_xinfo", 1, 2, ANY, "(SELECT count(*) FROM pragma_table_xinfo('t'))", 6),
        _row("pragma_table_list", 0, 2, ANY, "(SELECT ncol FROM pragma_table_list('t'))", 6),
        _row("pragma_index_list", 1, 2, ANY, "(SELECT count(*) FROM pragma_index_list('t'))", 0),
        _row("pragma_index_info", 1, 2, ANY, "(SELECT count(*) FROM pragma_index_info('t'))", 0),
        _row("pragma_index_xinfo", 1, 2, ANY, "(SELECT count(*) FROM pragma_index_xinfo('t'))", 0),
        _row("pragma_foreign_key_list", 1, 2, ANY, "(SELECT count(*) FROM pragma_foreign_key_list('t'))", 0),
        role=Role.TABLE, rewrite="joins.described",
    ),
)
# fmt: on


def _by_name(rows: tuple[Function, ...]) -> Mapping[str, tuple[Function, ...]]:
    found: dict[str, tuple[Function, ...]] = {}
    for row in rows:
        for name in row.names:
            found[name] = (*found.get(name, ()), row)
    return found


_BY_NAME = _by_name(FUNCTIONS)


def rows_of(name: str) -> tuple[Function, ...]:
    """Return the functions of a name in lower case; several if the number of arguments tells which."""
    return _BY_NAME.get(name, ())


def find(name: str, arguments: int) -> Function | None:
    """Return the function of a name in lower case that takes so many arguments, or one that takes others."""
    rows = _BY_NAME.get(name, ())
    return next((row for row in rows if row.accepts(arguments)), rows[0] if rows else None)
