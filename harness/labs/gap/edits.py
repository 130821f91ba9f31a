"""Small edits of a text, one at a time: what an engine's table of repairs asks for, as texts to run.

Edits of names and signs change the text in place, so that all else stays as the predictor wrote it. Edits
of expressions go through a tree, and the text is written anew.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from dialects.enums import Dialect
from dialects.targets import SQLGLOT
from harness.engines import kind_of
from harness.engines.errors import EditKind, Repairs
from harness.sqltree.parser import statements

_LONGEST = 20_000
"""Characters of a text that is read; answers are shorter."""


@lru_cache(maxsize=512)
def read(sql: str, dialect: Dialect) -> exp.Query | None:
    """Return the tree of one query, read in a dialect; None if it cannot be read. Copy before changing."""
    if len(sql) > _LONGEST:
        return None
    try:
        trees = statements(sql, dialect)
    except Exception:  # noqa: BLE001 - sqlglot raises whatever it meets in unforeseen texts
        return None
    return trees[0] if len(trees) == 1 and isinstance(trees[0], exp.Query) else None


def write(tree: exp.Expr, dialect: Dialect) -> str | None:
    """Return a tree as a text of a dialect; None if it cannot be written."""
    try:
        return tree.sql(dialect=SQLGLOT[dialect])
    except Exception:  # noqa: BLE001 - as above
        return None


def unescaped(sql: str) -> str:
    """Return a text without the backslashes that Markdown puts before signs."""
    return re.sub(r"\\([_*%#<>\[\]()])", r"\1", sql)


def crossed(sql: str, source: Dialect, target: Dialect) -> str | None:
    """Return a text of one dialect as one would write it in another: None if it cannot be read or written."""
    tree = read(sql, source)
    if tree is None:
        return None
    copied = tree.copy()
    try:
        return write(copied.transform(_for_sqlite) if target is Dialect.SQLITE else copied, target)
    except Exception:  # noqa: BLE001 - as above
        return None


_PARTS: Mapping[str, str] = {
    "YEAR": "%Y", "MONTH": "%m", "DAY": "%d", "HOUR": "%H", "MINUTE": "%M", "SECOND": "%S", "DOW": "%w",
    "DOY": "%j",
}  # fmt: skip


def _part(value: exp.Expr, part: str) -> exp.Expr | None:
    """Return a part of a time as the number that it is: SQLite has texts alone."""
    if part.upper() not in _PARTS:
        return None
    text = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(_PARTS[part.upper()]), value])
    return exp.Cast(this=text, to=exp.DataType.build("BIGINT"))


def _plain_time(node: exp.Expr) -> exp.Expr:
    """Remove what sqlglot puts around a time."""
    while isinstance(node, exp.TsOrDsToDate | exp.TsOrDsToTimestamp):
        node = node.this
    return node


def _of_extract(node: exp.Extract) -> exp.Expr | None:
    value = node.expression
    if isinstance(value, exp.Anonymous) and value.name.upper() == "AGE":
        return _years_between(node, value.expressions)
    if str(node.this.name).upper() == "EPOCH":
        return exp.Anonymous(this="UNIXEPOCH", expressions=[value])
    return _part(value.copy(), str(node.this.name))


def _years_between(node: exp.Extract, times: list[exp.Expr]) -> exp.Expr | None:
    if str(node.this.name).upper() != "YEAR" or not times:
        return None
    now = exp.Literal.string("now")
    later, earlier = (times[0], times[1]) if len(times) > 1 else (now, times[0])
    return _age(later, earlier)


def _age(later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
    """Whole years between two times."""

    def strftime(form: str, time: exp.Expr) -> exp.Expr:
        return exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string(form), time.copy()])

    years = exp.Sub(
        this=exp.Cast(this=strftime("%Y", later), to=exp.DataType.build("BIGINT")),
        expression=exp.Cast(this=strftime("%Y", earlier), to=exp.DataType.build("BIGINT")),
    )
    is_before = exp.LT(this=strftime("%m-%d", later), expression=strftime("%m-%d", earlier))
    return exp.Paren(this=exp.Sub(this=years, expression=exp.Paren(this=is_before)))


def _of_difference(node: exp.Expr) -> exp.Expr | None:
    unit = str(node.args["unit"].name).upper() if node.args.get("unit") else "DAY"
    later, earlier = _plain_time(node.this), _plain_time(node.expression)
    if unit == "YEAR":
        return _age(later, earlier)
    if unit != "DAY":
        return None
    days = (exp.Anonymous(this="JULIANDAY", expressions=[time.copy()]) for time in (later, earlier))
    return exp.Cast(
        this=exp.Paren(this=exp.Sub(this=next(days), expression=next(days))), to=exp.DataType.build("BIGINT")
    )


def _of_left(node: exp.Left) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Literal.number(1), node.expression])


def _of_right(node: exp.Right) -> exp.Expr:
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Neg(this=node.expression)])


def _of_cast(node: exp.Cast) -> exp.Expr | None:
    to = node.to
    if to.is_type(exp.DataType.Type.DATE):
        return exp.Anonymous(this="DATE", expressions=[node.this])
    if to.is_type(*exp.DataType.TEMPORAL_TYPES) and not to.is_type(exp.DataType.Type.TIME):
        return exp.Anonymous(this="DATETIME", expressions=[node.this])
    if to.is_type(exp.DataType.Type.DECIMAL):
        return exp.Cast(this=node.this, to=exp.DataType.build("DOUBLE"))
    return None


_Rewrite = Callable[..., exp.Expr | None]

_REWRITES: Mapping[type[exp.Expr], _Rewrite] = {
    exp.Extract: _of_extract,
    exp.Year: lambda node: _part(_plain_time(node.this), "YEAR"),
    exp.Month: lambda node: _part(_plain_time(node.this), "MONTH"),
    exp.Day: lambda node: _part(_plain_time(node.this), "DAY"),
    exp.TimestampDiff: _of_difference,
    exp.DateDiff: _of_difference,
    exp.StrToDate: lambda node: exp.Anonymous(this="DATE", expressions=[node.this]),
    exp.StrToTime: lambda node: exp.Anonymous(this="DATETIME", expressions=[node.this]),
    exp.CurrentTimestamp: lambda _: exp.Anonymous(this="DATETIME", expressions=[exp.Literal.string("now")]),
    exp.Left: _of_left,
    exp.Right: _of_right,
    exp.Cast: _of_cast,
    exp.AnyValue: lambda node: exp.Anonymous(this="MIN", expressions=[node.this]),
}
"""What sqlglot leaves as it is, or turns into what SQLite reads otherwise: CAST to a date makes a number."""


def _for_sqlite(node: exp.Expr) -> exp.Expr:
    rewrite = _REWRITES.get(type(node))
    found = None if rewrite is None else rewrite(node)
    return node if found is None else found


_MOST_SITES = 6
"""Places of one kind in a text that are edited one by one, after all of them together."""
_MOST_NAMES = 8
"""Names that are tried in place of one that is not there."""
_LEAST_LIKENESS = 0.6
"""How alike such names must be, by shared characters in order; less alike is another word."""


@dataclass(frozen=True)
class Edit:
    """A text after one more edit, and what the edit was in a few words."""

    kind: EditKind
    what: str
    sql: str


@dataclass(frozen=True)
class Names:
    """The tables of a database as an engine calls them, with their columns."""

    tables: Mapping[str, Sequence[str]]
    db_id: str = ""

    @cached_property
    def all(self) -> Mapping[str, str]:
        """Every name by its letters, without case and signs."""
        names = [*self.tables, *(column for columns in self.tables.values() for column in columns)]
        return {_squashed(name): name for name in reversed(names)}


@dataclass(frozen=True)
class Broken:
    """A text that is to be edited, on an engine, with what the engine says against it; nothing if it runs."""

    sql: str
    dialect: Dialect
    names: Names
    repairs: Repairs
    code: str | None = None
    error: str | None = None

    @property
    def quote(self) -> str:
        """The nodes that hold names."""
        return kind_of(self.dialect).quote

    @cached_property
    def about(self) -> str | None:
        """The name that the error is about, if it names one."""
        found = (pattern.search(self.error or "") for pattern in self.repairs.names)
        whole = next((match[1] for match in found if match), None)
        # Before the last dot is a table, or a database.
        return None if whole is None else whole.rpartition(".")[2].strip('"`')

    @cached_property
    def tokens(self) -> Sequence[Token]:
        """Return the tokens, by the dialect that knows every kind of quotes; none if it fails."""
        try:
            return sqlglot.tokenize(self.sql, read=SQLGLOT[Dialect.SQLITE])
        except (SqlglotError, ValueError):
            return ()


def edits(broken: Broken) -> Iterator[Edit]:
    """Yield the texts that are one edit away, likeliest first, each once."""
    kinds = (
        broken.repairs.of_rows if broken.error is None else broken.repairs.of_error(broken.code, broken.error)
    )
    seen = {broken.sql}
    for kind in kinds:
        for what, sql in _EDITS[kind](broken):
            if sql not in seen:
                seen.add(sql)
                yield Edit(kind, what, sql)


_Found = Iterator[tuple[str, str]]
"""An edit, and the text after it."""


def _squashed(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()) or name


def _replaced(sql: str, parts: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with other words from one place to another, both counted."""
    for start, end, text in sorted(parts, reverse=True):
        sql = sql[:start] + text + sql[end + 1 :]
    return sql


def _written(broken: Broken, token: Token) -> str:
    return broken.sql[token.start : token.end + 1]


def _is_name(token: Token) -> bool:
    is_word = re.fullmatch(r"[^\W\d]\w*", token.text) is not None
    return token.token_type is TokenType.IDENTIFIER or (is_word and token.token_type is not TokenType.STRING)


def _is_quoted(broken: Broken, token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER and _written(broken, token)[:1] in '"`['


def _quoted(broken: Broken, name: str) -> str:
    return broken.quote + name.replace(broken.quote, broken.quote * 2) + broken.quote


def _singly(broken: Broken, what: str, parts: Sequence[tuple[int, int, str]]) -> _Found:
    """Return all places at once, then one by one."""
    if not parts:
        return
    yield what, _replaced(broken.sql, parts)
    for part in parts[:_MOST_SITES] if len(parts) > 1 else ():
        yield f"{what}, in one place", _replaced(broken.sql, [part])


def _unescape(broken: Broken) -> _Found:
    yield "without backslashes", unescaped(broken.sql)


def _requote(broken: Broken) -> _Found:
    parts = [
        (token.start, token.end, _quoted(broken, broken.names.all.get(_squashed(token.text), token.text)))
        for token in broken.tokens
        if _is_quoted(broken, token) and _written(broken, token)[0] != broken.quote
    ]
    # Where double quotes are those of texts, only what is a name is taken for one.
    if kind_of(broken.dialect).quote != '"':
        parts = [part for part in parts if _squashed(part[2]) in broken.names.all]
    if parts:
        yield f"names in {broken.quote}", _replaced(broken.sql, parts)


def _quote(broken: Broken) -> _Found:
    rest = broken.repairs.near(broken.error or "")
    if rest is None:
        return
    first = re.match(r"\W*(\w+)", rest)
    known = broken.names.all
    words = [first[1]] if first else []
    # The parser stops at the name or right behind it.
    places = [place for place, token in enumerate(broken.tokens) if broken.sql.startswith(rest, token.start)]
    words += [broken.tokens[place - 1].text for place in places[:1] if place]
    for word in dict.fromkeys(words):
        if _squashed(word) not in known:
            continue
        parts = [
            (token.start, token.end, _quoted(broken, known[_squashed(word)]))
            for token in broken.tokens
            if token.text.lower() == word.lower() and not _is_quoted(broken, token) and _is_name(token)
        ]
        if parts:
            yield f"{word} in {broken.quote}", _replaced(broken.sql, parts)


def _text_quotes(broken: Broken) -> _Found:
    parts = [
        (token.start, token.end, "'" + token.text.replace("'", "''") + "'")
        for token in broken.tokens
        if _is_quoted(broken, token) and _written(broken, token)[0] == '"'
    ]
    about = broken.about
    named = [part for part in parts if about is not None and part[2].strip("'").startswith(about)]
    unknown = [part for part in parts if _squashed(part[2]) not in broken.names.all]
    for some in (unknown, named, parts):
        if some:
            yield "texts in single quotes", _replaced(broken.sql, some)


def _respell(broken: Broken) -> _Found:
    parts = []
    for token in broken.tokens:
        known = broken.names.all.get(_squashed(token.text))
        if known is None or not _is_name(token):
            continue
        spelled = _quoted(broken, known)
        if _is_quoted(broken, token) or (broken.about and _squashed(broken.about) == _squashed(token.text)):
            parts.append((token.start, token.end, spelled))
    if parts:
        yield "names as the engine has them", _replaced(broken.sql, parts)
    qualifiers = [
        (token.start, token.end, token.text)
        for token in broken.tokens
        if _is_quoted(broken, token) and re.fullmatch(r"\w+", token.text)
    ]
    if qualifiers:
        yield "names without quotes", _replaced(broken.sql, qualifiers)


def _rename(broken: Broken) -> _Found:
    about = broken.about
    if about is None:
        return
    used = {token.text.lower() for token in broken.tokens}
    tables = {name: columns for name, columns in broken.names.tables.items() if name.lower() in used}
    candidates = dict.fromkeys(
        [*(column for columns in tables.values() for column in columns), *broken.names.tables]
    )
    if broken.error is not None and re.search(r"\b(?:relation|table|Table)\b", broken.error):
        candidates = dict.fromkeys(broken.names.tables)
    alike = {name: _likeness(about, name, tables) for name in candidates}
    near = sorted((name for name in alike if alike[name] >= _LEAST_LIKENESS), key=lambda name: -alike[name])
    places = [token for token in broken.tokens if token.text.lower() == about.lower() and _is_name(token)]
    for name in [name for name in near if name.lower() != about.lower()][:_MOST_NAMES]:
        parts = [(token.start, token.end, _quoted(broken, name)) for token in places]
        yield from _singly(broken, f"{name} in place of {about}", parts)


def _likeness(one: str, other: str, tables: Mapping[str, Sequence[str]]) -> float:
    """Return how alike two names are, with and without the name of a table that the first begins with."""
    left, right = _squashed(one), _squashed(other)
    stripped = [left.removeprefix(_squashed(table)) for table in tables]
    return max(SequenceMatcher(None, each, right).ratio() for each in (left, *filter(None, stripped)))


def _qualify(broken: Broken) -> _Found:
    about = broken.about
    tree = read(broken.sql, broken.dialect)
    if about is None or tree is None:
        return
    parts = []
    for place, token in enumerate(broken.tokens):
        before = broken.tokens[place - 1].token_type if place else None
        if token.text.lower() == about.lower() and _is_name(token) and before is not TokenType.DOT:
            parts.append(token)
    for table in dict.fromkeys(table.alias_or_name for table in tree.find_all(exp.Table)):
        found = [(token.start, token.start - 1, f"{_own(broken, table)}.") for token in parts]
        yield from _singly(broken, f"{table}.{about}", found)


def _own(broken: Broken, name: str) -> str:
    return name if re.fullmatch(r"[^\W\d]\w*", name) else _quoted(broken, name)


def _unqualify(broken: Broken) -> _Found:
    tokens = broken.tokens
    parts = [
        (one.start, dot.end, "")
        for one, dot, other in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if dot.token_type is TokenType.DOT
        and _squashed(one.text) in {_squashed(broken.names.db_id), "public", "main", "dbo"}
        and _squashed(other.text) in broken.names.all
    ]
    if parts:
        yield "without the database's name", _replaced(broken.sql, parts)


def _function(broken: Broken) -> _Found:
    tokens, functions = broken.tokens, broken.repairs.functions
    called = [
        token
        for token, following in pairwise(tokens)
        if following.token_type is TokenType.L_PAREN and token.text.lower() in functions
    ]
    for name in dict.fromkeys(token.text.lower() for token in called):
        parts = [(token.start, token.end, functions[name]) for token in called if token.text.lower() == name]
        yield f"{functions[name]}() in place of {name}()", _replaced(broken.sql, parts)


def _read_as(broken: Broken) -> _Found:
    for dialect in Dialect:
        if dialect is not broken.dialect:
            text = crossed(broken.sql, dialect, broken.dialect)
            if text is not None:
                yield f"read as {kind_of(dialect).title}", text


Site = Callable[[exp.Expr], bool]
Change = Callable[[exp.Expr], exp.Expr]


def _trees(broken: Broken, what: str, is_site: Site, change: Change, *, singly: bool = True) -> _Found:
    """Return the text with every node that is a site changed, then with one at a time."""
    tree = read(broken.sql, broken.dialect)
    if tree is None:
        return
    count = sum(is_site(node) for node in tree.walk())
    choices: list[int | None] = [None] if count else []
    choices += list(range(min(count, _MOST_SITES))) if count > 1 and singly else []
    for chosen in choices:
        copied = tree.copy()
        sites = [node for node in copied.walk() if is_site(node)]
        # From the inside out: a node that is replaced takes what is in it along.
        for place, node in reversed(list(enumerate(sites))):
            if chosen in {None, place}:
                new = change(node)
                if new is not node and node.parent is not None:
                    node.replace(new)
        text = write(copied, broken.dialect)
        if text is not None:
            yield what if chosen is None else f"{what}, in one place", text


def _group(broken: Broken) -> _Found:
    about = broken.about
    tree = read(broken.sql, broken.dialect)
    if tree is None or about is None:
        return

    def is_bare(column: exp.Expr) -> bool:
        return (
            isinstance(column, exp.Column)
            and column.name.lower() == about.lower()
            and column.find_ancestor(exp.AggFunc, exp.Group, exp.Where) is None
        )

    def is_grouped(node: exp.Expr) -> bool:
        return isinstance(node, exp.Select) and any(is_bare(column) for column in node.find_all(exp.Column))

    def group(node: exp.Expr) -> exp.Expr:
        bare = [column for column in node.find_all(exp.Column) if is_bare(column)]
        grouped = node.args.get("group") or exp.Group(expressions=[])
        node.set("group", exp.Group(expressions=[*grouped.expressions, bare[0].copy()]))
        return node

    yield from _trees(broken, f"{about} in GROUP BY", is_grouped, group, singly=False)
    yield from _trees(
        broken, f"the least {about}", is_bare, lambda node: exp.Min(this=node.copy()), singly=False
    )


def _first_row(broken: Broken) -> _Found:
    def is_site(node: exp.Expr) -> bool:
        is_value = isinstance(node, exp.Subquery) and isinstance(
            node.parent, exp.Binary | exp.Alias | exp.Select
        )
        return is_value and isinstance(node.this, exp.Select) and not node.this.args.get("limit")

    def change(node: exp.Expr) -> exp.Expr:
        return exp.Subquery(this=node.this.copy().limit(1))

    yield from _trees(broken, "the first row of a subquery", is_site, change)


_VALUES = (exp.Column, exp.Literal, exp.Func, exp.Paren, exp.Binary, exp.Cast, exp.Case)


def _cast(broken: Broken) -> _Found:
    def is_site(node: exp.Expr) -> bool:
        if not isinstance(node, _VALUES) or isinstance(node, exp.Predicate | exp.Connector):
            return False
        parent = node.parent
        if isinstance(parent, exp.Predicate | exp.Add | exp.Sub | exp.Mul | exp.Div | exp.In | exp.Between):
            return True
        is_argument = isinstance(parent, exp.Func) and not isinstance(
            parent, exp.Cast | exp.Connector | exp.Count
        )
        return is_argument and not isinstance(node, exp.Literal)

    tree = read(broken.sql, broken.dialect)
    if tree is None:
        return
    sites = [node for node in tree.walk() if is_site(node)]
    # Columns first: they have the types that other engines do not mind.
    order = sorted(range(len(sites)), key=lambda place: not isinstance(sites[place], exp.Column))
    for type_name in broken.repairs.casts:
        for name in dict.fromkeys(site.sql() for site in sites if isinstance(site, exp.Column)):
            yield from _trees(
                broken,
                f"{name} cast to {type_name}",
                lambda node, name=name: is_site(node) and node.sql() == name,  # type: ignore[misc]
                lambda node, to=type_name: exp.Cast(  # type: ignore[misc]
                    this=node.copy(), to=exp.DataType.build(to, dialect=SQLGLOT[broken.dialect])
                ),
                singly=False,
            )
        for place in [place for place in order if not isinstance(sites[place], exp.Column)][:_MOST_SITES]:
            copied = tree.copy()
            node = [each for each in copied.walk() if is_site(each)][place]
            to = exp.DataType.build(type_name, dialect=SQLGLOT[broken.dialect])
            node.replace(exp.Cast(this=node.copy(), to=to))
            text = write(copied, broken.dialect)
            if text is not None:
                yield f"{node.sql()} cast to {type_name}", text


def _precision(broken: Broken) -> _Found:
    to = exp.DataType.build(broken.repairs.real, dialect=SQLGLOT[broken.dialect])

    def is_cast(node: exp.Expr) -> bool:
        return isinstance(node, exp.Cast) and node.to.is_type(
            exp.DataType.Type.FLOAT, exp.DataType.Type.DECIMAL
        )

    def is_site(node: exp.Expr) -> bool:
        # Exact decimals come of these, where quotients are no integers.
        is_exact = isinstance(node, exp.Div | exp.Avg) and not broken.repairs.divides_integers
        return is_cast(node) or is_exact

    def change(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Cast):
            return exp.Cast(this=node.this.copy(), to=to)
        node.this.replace(exp.Cast(this=node.this.copy(), to=to))
        return node

    yield from _trees(broken, "numbers in double precision", is_site, change)


def _nulls(broken: Broken) -> _Found:
    def flip(node: exp.Expr) -> exp.Expr:
        node.set("nulls_first", not node.args.get("nulls_first"))
        return node

    yield from _trees(
        broken, "NULL at the other end of ORDER BY", lambda node: isinstance(node, exp.Ordered), flip
    )


_COMPARED = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.GT, exp.LT, exp.GTE, exp.LTE, exp.Between)


def _collate(broken: Broken) -> _Found:
    collation = broken.repairs.collation
    if collation is None:
        return

    def is_text(node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and (
            isinstance(node.parent, (*_COMPARED, exp.Ordered, exp.Group, exp.Distinct, exp.Count))
        )

    yield from _trees(
        broken,
        f"texts compared by {collation}",
        is_text,
        lambda node: exp.Collate(this=node.copy(), expression=exp.Var(this=collation)),
    )


def _like_case(broken: Broken) -> _Found:
    like = broken.repairs.like
    if like is None:
        return

    def change(node: exp.Expr) -> exp.Expr:
        if like == "ilike":
            return exp.ILike(this=node.this.copy(), expression=node.expression.copy())
        pattern = str(node.expression.name).replace("%", "*").replace("_", "?")
        return exp.Glob(this=node.this.copy(), expression=exp.Literal.string(pattern))

    def is_site(node: exp.Expr) -> bool:
        return isinstance(node, exp.Like) and isinstance(node.expression, exp.Literal)

    what = "LIKE without regard to case" if like == "ilike" else "LIKE with regard to case"
    yield from _trees(broken, what, is_site, change)


def _division(broken: Broken) -> _Found:
    real = exp.DataType.build(broken.repairs.real, dialect=SQLGLOT[broken.dialect])

    def is_site(node: exp.Expr) -> bool:
        return isinstance(node, exp.Div)

    def as_real(node: exp.Expr) -> exp.Expr:
        node.this.replace(exp.Cast(this=node.this.copy(), to=real))
        return node

    def as_integer(node: exp.Expr) -> exp.Expr:
        quotient = exp.Paren(this=exp.Div(this=node.this.copy(), expression=node.expression.copy()))
        if broken.repairs.divides_integers:
            return exp.Cast(this=quotient, to=exp.DataType.build("BIGINT"))
        return exp.Anonymous(this="TRUNCATE", expressions=[quotient, exp.Literal.number(0)])

    if broken.repairs.divides_integers:
        yield from _trees(broken, "a quotient as a real number", is_site, as_real)
    yield from _trees(broken, "a quotient as an integer", is_site, as_integer)


def _zero(broken: Broken) -> _Found:
    def change(node: exp.Expr) -> exp.Expr:
        node.expression.replace(exp.Nullif(this=node.expression.copy(), expression=exp.Literal.number(0)))
        return node

    yield from _trees(broken, "NULL for a division by 0", lambda node: isinstance(node, exp.Div), change)


def _concat(broken: Broken) -> _Found:
    # Where || is OR, sqlglot reads it as that.
    if "||" not in broken.sql:
        return
    tree = read(broken.sql, Dialect.SQLITE)
    if tree is not None:
        text = write(tree, broken.dialect)
        if text is not None:
            yield "|| puts texts together", text


_EDITS: Mapping[EditKind, Callable[[Broken], _Found]] = {
    EditKind.UNESCAPE: _unescape,
    EditKind.REQUOTE: _requote,
    EditKind.QUOTE: _quote,
    EditKind.TEXT_QUOTES: _text_quotes,
    EditKind.RESPELL: _respell,
    EditKind.RENAME: _rename,
    EditKind.QUALIFY: _qualify,
    EditKind.UNQUALIFY: _unqualify,
    EditKind.FUNCTION: _function,
    EditKind.READ_AS: _read_as,
    EditKind.GROUP: _group,
    EditKind.FIRST_ROW: _first_row,
    EditKind.CAST: _cast,
    EditKind.PRECISION: _precision,
    EditKind.NULLS: _nulls,
    EditKind.COLLATE: _collate,
    EditKind.LIKE_CASE: _like_case,
    EditKind.DIVISION: _division,
    EditKind.ZERO: _zero,
    EditKind.CONCAT: _concat,
}

THROUGH_TREES = frozenset({
    EditKind.GROUP, EditKind.FIRST_ROW, EditKind.CAST, EditKind.PRECISION, EditKind.NULLS, EditKind.COLLATE,
    EditKind.LIKE_CASE, EditKind.DIVISION, EditKind.ZERO, EditKind.CONCAT,
})  # fmt: skip
"""Edits that write the whole text anew: they count only if writing it anew alone does not fix it."""
