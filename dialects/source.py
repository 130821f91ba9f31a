"""Parse SQLite's SQL into a tree that keeps exactly what was written.

sqlglot's SQLite parser maps function calls to similar functions of other dialects. Here a call stays a name
with arguments, since the rewrites define its meaning.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any, ClassVar, TypeVar

from sqlglot import exp, parser
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.sqlite import SQLiteParser
from sqlglot.tokenizer_core import Token, TokenType

from dialects.errors import Untranslatable
from dialects.functions import rows_of
from dialects.trees import find_all

if str(parser.__file__).endswith(tuple(EXTENSION_SUFFIXES)):
    raise ImportError(
        "sqlglot's compiled modules (sqlglot[c]) were imported, which the project cannot extend; "
        "import dialects before sqlglot, or uninstall sqlglotc"
    )


_Node = TypeVar("_Node", bound=exp.Expr)


class Plus(exp.Paren):
    """Unary plus: keeps the value and removes the affinity. https://sqlite.org/lang_expr.html."""


class Starred(exp.Expression):
    """A column that * expands to: the number of its source in FROM, and its number there."""

    arg_types: ClassVar[dict[str, bool]] = {"source": True, "column": True}


def _like(kind: type[exp.Binary]) -> Callable[[Any, exp.Expr | None], Any]:
    def read(self: Any, this: exp.Expr | None) -> Any:
        if this is None:
            self.raise_error("Expected an operand", self._prev)
        return self._parse_escape(kind(this=this, expression=self._parse_comparison()))

    return read


def _refuse_operator(self: Any, _this: exp.Expr) -> exp.Expr:
    """Refuse MATCH, RLIKE and REGEXP, which sqlglot reads as another operator or not at all."""
    name = self._prev.text.upper()
    reasons = [row.refused for row in rows_of(name.lower()) if row.refused is not None]
    if not reasons:
        self.raise_error(f"{name} is no operator of SQLite's", self._prev)
    raise Untranslatable(name, reasons[0], self._prev.start)


def _parse_is(self: Any, this: exp.Expr) -> exp.Expr:
    """Read the right side of IS up to the next operator that binds as loosely."""
    is_negated = self._match(TokenType.NOT)
    if self._match_text_seq("DISTINCT", "FROM"):
        is_negated = not is_negated
    right = self._parse_comparison()
    if right is None:
        self.raise_error("Expected an operand after IS")
    value = right.unnest()
    if not isinstance(value, exp.Null | exp.Boolean):
        return (exp.NullSafeNEQ if is_negated else exp.NullSafeEQ)(this=this, expression=right)
    found = exp.Is(this=this, expression=value)
    return exp.Not(this=found) if is_negated else found


class _Parser(SQLiteParser):
    """SQLite's precedence: =, IS, IN, LIKE, BETWEEN and so on are equal, left-associative, and below <.

    https://sqlite.org/lang_expr.html#operators_and_parse_affecting_attributes
    """

    _operand: exp.Expr | None = None
    """What has been read already of the operand that comes next."""

    FUNCTIONS: ClassVar = {}
    FUNCTION_PARSERS: ClassVar = {"CAST": lambda self: self._parse_cast_to_words()}
    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SQLiteParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}
    FUNCTIONS_WITH_ALIASED_ARGS: ClassVar = set()
    UNARY_PARSERS: ClassVar = {
        **SQLiteParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: Plus(this=self._parse_unary()),
    }

    # Casts and accessors of other dialects: SQLite has no operator that follows a name directly.
    COLUMN_OPERATORS: ClassVar = {
        token: parser
        for token, parser in SQLiteParser.COLUMN_OPERATORS.items()
        if token not in {TokenType.DCOLON, TokenType.DOTCOLON, TokenType.DCOLONDOLLAR}
    }
    CONCAT_OPERATORS: ClassVar = {
        **SQLiteParser.CONCAT_OPERATORS,
        TokenType.ARROW: lambda _, this, path: exp.JSONExtract(this=this, expression=path),
        TokenType.DARROW: lambda _, this, path: exp.JSONExtractScalar(this=this, expression=path),
    }
    RANGE_PARSERS: ClassVar = {
        **{
            token: parser
            for token, parser in SQLiteParser.RANGE_PARSERS.items()
            if token in {TokenType.IN, TokenType.BETWEEN}
        },
        TokenType.IS: _parse_is,
        TokenType.LIKE: _like(exp.Like),
        TokenType.GLOB: _like(exp.Glob),
        TokenType.MATCH: _refuse_operator,
        TokenType.RLIKE: _refuse_operator,
    }
    FUNC_TOKENS: ClassVar = {*SQLiteParser.FUNC_TOKENS, TokenType.MATCH}

    def expression(
        self, instance: _Node, token: Token | None = None, comments: list[str] | None = None
    ) -> _Node:
        """Take what was read, as sqlglot does, which makes lists of faults and comments of all."""
        given = instance.args
        is_whole = instance.is_primitive or all(map(given.get, instance.required_args))
        if comments or self._prev_comments or not is_whole:
            return super().expression(instance, token, comments)
        if token:
            instance.meta.update(start=token.start, end=token.end)
        return instance

    def _name(self, token: Token) -> exp.Identifier:
        is_quoted = token.token_type is TokenType.IDENTIFIER
        return self.expression(exp.Identifier(this=token.text, quoted=is_quoted), token)

    def _parse_statement(self) -> exp.Expr | None:
        if self._curr.token_type is TokenType.SELECT:
            return self._parse_query_modifiers(self._parse_select())
        return super()._parse_statement()

    def _parse_column(self) -> exp.Expr | None:
        if self._curr.token_type in self.IDENTIFIER_TOKENS and self._next.token_type is TokenType.L_PAREN:
            return self._parse_column_ops(self._parse_function())
        return super()._parse_column()

    def _parse_column_parts_fast(self) -> exp.Column | exp.Dot | None:
        """Read `b` or `a.b`, or what else sqlglot reads so."""
        first, then, tokens, at = self._curr, self._next, self._tokens, self._index
        if first.token_type is TokenType.VAR and not first.comments:
            if then.token_type not in _AFTER_NAMES:
                self._advance()
                return exp.Column(this=self._name(first))
            if then.token_type is TokenType.DOT and not then.comments and at + 3 < self._tokens_size:
                second, after = tokens[at + 2], tokens[at + 3]
                is_name = second.token_type in self.IDENTIFIER_TOKENS and not second.comments
                if is_name and after.token_type not in _AFTER_NAMES:
                    self._advance(3)
                    return exp.Column(this=self._name(second), table=self._name(first))
        return super()._parse_column_parts_fast()

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:  # noqa: FBT001, FBT002
        return this if self._curr.token_type in _ENDS else super()._parse_alias(this, explicit)

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:  # noqa: FBT001, FBT002
        if self._curr.token_type in _ENDS and not alias:
            return this
        found = super()._parse_window(this, alias)
        if (
            isinstance(found, exp.Window)
            and not alias
            and set(found.args) <= {"this", "alias", "over"}
            and found.args.get("alias") is None
        ):
            # Without a window after it, SQLite reads OVER as a column's name.
            self.raise_error("no window follows OVER")
        return found

    def _parse_type(
        self,
        parse_interval: bool = True,  # noqa: FBT001, FBT002
        fallback_to_identifier: bool = False,  # noqa: FBT001, FBT002
    ) -> exp.Expr | None:
        """Read names of types as names: in SQLite, `date 'x'` is the column `date` under the alias x."""
        if not fallback_to_identifier and (atom := self._parse_atom()) is not None:
            return atom
        _ = parse_interval
        return self._parse_id_var() if fallback_to_identifier else self._parse_column()

    def _parse_column_ops(self, this: exp.Expr | None) -> exp.Expr | None:
        """Read two texts with a dot between them as a column: SQLite takes 't'.'a' as "t"."a"."""
        if self._curr.token_type not in _AFTER_NAMES:
            return this
        found = super()._parse_column_ops(this)
        if isinstance(found, exp.Dot):
            table, column = _quoted_name(found.this), _quoted_name(found.expression)
            if table is not None and column is not None:
                return exp.Column(this=column, table=table)
        return found

    def _parse_equality(self, parse_is: bool = True) -> exp.Expr | None:  # noqa: FBT001, FBT002
        _ = parse_is
        this = self._parse_comparison()
        while True:
            if self._match_set(self.EQUALITY):
                operator = self.EQUALITY[self._prev.token_type]
                this = self._build_predicate(operator, this, self._parse_comparison())
                continue
            if self._curr.token_type not in _PREDICATES:
                return this
            before = self._index
            this = self._parse_range(this, parse_is=True)
            if self._index == before:
                return this
            # After x IN (1) and x ISNULL, the whole predicate is the operand of any operator.
            self._operand = this
            this = self._parse_comparison()

    def _parse_join(self, *given: Any, **options: Any) -> exp.Join | None:
        """Read ON and USING after a comma: SQLite takes them as after JOIN."""
        if self._curr.token_type not in _JOINS:
            return None
        is_comma = self._curr.token_type is TokenType.COMMA
        found = super()._parse_join(*given, **options)
        if found is not None and is_comma:
            if self._match(TokenType.ON):
                found.set("on", self._parse_disjunction())
            elif self._match(TokenType.USING):
                found.set("using", self._parse_using_identifiers())
            if found.args.get("on") or found.args.get("using"):
                found.set("kind", "INNER")
        return found

    def _parse_primary(self) -> exp.Expr | None:
        """Read a text after a text as its alias, not as its continuation."""
        if self._next and self._curr.token_type is self._next.token_type is TokenType.STRING:
            self._advance()
            return exp.Literal.string(self._prev.text)
        return super()._parse_primary()

    def _parse_bitwise(self) -> exp.Expr | None:
        """Read an operand, and the operators that bind more tightly than comparisons if one follows."""
        this = self._parse_unary()
        kind = self._curr.token_type
        if kind not in _ARITHMETIC and kind is not self._next.token_type:
            return this
        self._operand = this
        return super()._parse_bitwise()

    def _parse_unary(self) -> exp.Expr | None:
        if self._operand is not None:
            read, self._operand = self._operand, None
            return read
        if self._curr.token_type in self.IDENTIFIER_TOKENS and (column := self._parse_column()) is not None:
            return column
        return super()._parse_unary() if self._curr.token_type in self.UNARY_PARSERS else self._parse_type()

    def _parse_comparison(self, this: exp.Expr | None = None) -> exp.Expr | None:
        this = this or self._parse_bitwise()
        while self._match_set(self.COMPARISON):
            operator = self.COMPARISON[self._prev.token_type]
            this = self._build_predicate(operator, this, self._parse_bitwise())
        return this

    def _parse_cast_to_words(self) -> exp.Expr:
        """Read CAST with its type as written: SQLite allows any words, and sqlglot changes those it knows."""
        this, words = self._parse_assignment(), []
        if not self._match(TokenType.ALIAS):
            self.raise_error("Expected AS after CAST")
        while self._curr and self._curr.token_type not in {TokenType.L_PAREN, TokenType.R_PAREN}:
            words.append(self._curr.text)
            self._advance()
        if not words:
            self.raise_error("Expected TYPE after CAST")
        if self._match(TokenType.L_PAREN):
            self._parse_csv(self._parse_unary)
            self._match_r_paren()
        kind = exp.DataType(this=exp.DType.USERDEFINED, kind=" ".join(words))
        return self.expression(exp.Cast(this=this, to=kind))

    def _parse_limit(
        self,
        this: exp.Expr | None = None,
        top: bool = False,  # noqa: FBT001, FBT002
        skip_limit_token: bool = False,  # noqa: FBT001, FBT002
    ) -> exp.Expr | None:
        _ = top
        if not skip_limit_token and not self._match(TokenType.LIMIT):
            return this
        count, offset = self._parse_disjunction(), None
        if self._match(TokenType.COMMA):
            count, offset = self._parse_disjunction(), count
        return self.expression(exp.Limit(this=this, expression=count, offset=offset))

    def _parse_offset(self, this: exp.Expr | None = None) -> exp.Expr | None:
        if not self._match(TokenType.OFFSET):
            return this
        return self.expression(exp.Offset(this=this, expression=self._parse_disjunction()))

    def _parse_between(self, this: exp.Expr | None) -> exp.Between:
        low = self._parse_equality()
        self._match(TokenType.AND)
        return exp.Between(this=this, low=low, high=self._parse_comparison())


_ENDS = frozenset({TokenType.COMMA, TokenType.R_PAREN, TokenType.FROM})
"""What neither continues an expression nor is its alias."""
_AFTER_NAMES = frozenset({*_Parser.COLUMN_OPERATORS, *_Parser.COLUMN_POSTFIX_TOKENS})
"""What makes something else than a column of names before it."""
_PREDICATES = frozenset({TokenType.NOT, TokenType.ISNULL, TokenType.NOTNULL, *_Parser.RANGE_PARSERS})
"""What a predicate begins with after its operand."""
_ARITHMETIC = frozenset({*_Parser.ARITHMETIC_TOKENS, *_Parser.CONCAT_OPERATORS, TokenType.COLLATE})
"""The operators that bind more tightly than comparisons, but for << and >>: those are two equal tokens."""
_JOINS = frozenset(
    {*_Parser.JOIN_METHODS, *_Parser.JOIN_SIDES, *_Parser.JOIN_KINDS, TokenType.COMMA, TokenType.JOIN}
)
"""What a join begins with."""

_NAMES_IN_SQLITE = frozenset(
    {
        "ANTI", "ASOF", "CURRENT_USER", "DESCRIBE", "FETCH", "GRANT", "LATERAL", "LOCK", "PARTITIONED_BY",
        "QUALIFY", "REVOKE", "SEMI", "STRAIGHT_JOIN", "TABLESAMPLE", "UNCACHE",
    }
)  # fmt: skip
"""Keywords of other dialects that are names in SQLite. https://sqlite.org/lang_keywords.html"""


class _Source(SQLite):
    class Tokenizer(SQLite.Tokenizer):
        # Operators of other dialects that begin with ~, which is itself an operator of SQLite.
        KEYWORDS: ClassVar = {
            word: token
            for word, token in SQLite.Tokenizer.KEYWORDS.items()
            if not word.startswith("~") and word not in _NAMES_IN_SQLITE
        }

    Parser = _Parser


_DIALECT = _Source()

_SIMPLE = re.compile(
    r"""\s*+(?:
    ((?i:GROUP|ORDER|PARTITION)\s++(?i:BY)\b)
    |([A-Za-z_][A-Za-z0-9_]*+)(?=[\s(),.;=<>+*/|-]|\Z)
    |([0-9]++(?:\.[0-9]++)?+)(?![\w.'"`\[])
    |('[^']*+(?:''[^']*+)*+')
    |("[^"]*+"(?!")|`[^`]*+`(?!`)|\[[^]]*+](?!]))
    |([(),.;*]|[<>!=]=(?!>)|<>|\|\||/(?!\*)|-(?![->|}%])|\+(?![%}])|%(?!})|=(?!>)|<(?![-<=])|>)
    |(.++)|\Z)""",
    re.ASCII | re.DOTALL | re.VERBOSE,
)
"""Two words, a word, a number, a text, a quoted name and an operator that SQLite and sqlglot read alike."""
_BY, _WORD, _NUMBER, _TEXT, _NAME, _OPERATOR = range(1, 7)

_KEYWORDS = _Source.Tokenizer.KEYWORDS
_KINDS: Mapping[str, TokenType | None] = {
    **_Source.Tokenizer.SINGLE_TOKENS,
    **_KEYWORDS,
    **{re.split("[ -]", word)[0]: None for word in _KEYWORDS if re.match("[A-Z]+[ -]", word)},
}
"""The types of operators and keywords; None for what keywords of several words begin with."""
_NONE: list[str] = []
"""The comments of a token that has none."""


def _tokens(sql: str) -> list[Token]:
    """Return the tokens of a text as sqlglot does, which looks at each letter, if one is not simple."""
    tokens: list[Token] = []
    kind: TokenType | None = TokenType.SEMICOLON
    for found in _SIMPLE.finditer(sql):
        which, before = found.lastindex, kind
        if which is None:
            break
        text, end = found[which], found.end()
        start = end - len(text)
        if which == _WORD:
            kind = _KINDS.get(text.upper(), TokenType.VAR)
            if before in _Source.Tokenizer.COMMAND_PREFIX_TOKENS and kind in _Source.Tokenizer.COMMANDS:
                kind = None
        elif which == _OPERATOR:
            kind = _KINDS[text]
        elif which == _NAME:
            kind, text = TokenType.IDENTIFIER, text[1:-1]
        elif which == _TEXT:
            kind, text = TokenType.STRING, text[1:-1].replace("''", "'")
        elif which == _BY:
            text = f"{text[:-2].rstrip()} BY".upper()
            kind = _KINDS[text]
        else:
            kind = TokenType.NUMBER if which == _NUMBER else None
        if kind is None:
            return _DIALECT.tokenize(sql)
        tokens.append(Token(kind, text, 1, end, start, end - 1, _NONE))
    return tokens


_QUERY = re.compile(
    r"(?:\s|--[^\n]*+(?:\n|$)|/\*(?:.*?\*/|.*+)|\()*+(?:SELECT|WITH|VALUES)\b", re.IGNORECASE | re.DOTALL
)
"""The beginning of a query."""
_OTHER = re.compile(
    r"(?:\s|--[^\n]*+(?:\n|$)|/\*(?:.*?\*/|.*+))*+(ALTER|ANALYZE|ATTACH|BEGIN|COMMIT|CREATE|DELETE|DETACH|DROP|END"
    r"|EXPLAIN|INSERT|PRAGMA|REINDEX|RELEASE|REPLACE|ROLLBACK|SAVEPOINT|UPDATE|VACUUM)\b",
    re.IGNORECASE | re.DOTALL,
)
"""The beginning of another statement of SQLite's: https://sqlite.org/lang.html."""


def refuse_statements(sql: str) -> None:
    """Refuse a text that begins like a statement of SQLite's which is no query.

    Raises:
        Untranslatable: it does.
    """
    if other := _OTHER.match(sql):
        raise _no_query(other[1].upper())


def _no_query(kind: str) -> Untranslatable:
    return Untranslatable("the statement", f"{kind} is no query: only queries are translated")


def _offset(sql: str, error: Mapping[str, Any]) -> int | None:
    """Return an error's offset in the text, from its line and column; None if unknown."""
    line, column = error.get("line"), error.get("col")
    if not isinstance(line, int) or not isinstance(column, int):
        return None
    before = sql.splitlines(keepends=True)[: line - 1]
    return max(0, sum(map(len, before)) + column - len(error.get("highlight") or " "))


QUOTED = r"'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|`[^`]*+`|\[[^\]]*+\]?+"
"""The pattern of a text or a quoted name."""
COMMENT = r"--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
"""The pattern of a comment."""
_BRACKETS = re.compile(rf"{QUOTED}|{COMMENT}|(?P<bracket>[()])")
_SEEN = re.compile(r"\S")
_MANY = 20
"""Brackets in brackets; the parser's recursion ends at about 60."""


def _shallow(sql: str) -> str:
    """Return a text with blanks for brackets directly within two others, if it has many.

    Within one other they may mean something: `x IN ((SELECT 1))` has a value, and `x IN (SELECT 1)` a list.
    """
    if sql.count("(") < _MANY or "(" * _MANY not in "".join(sql.split()):
        return sql
    opened: list[int] = []
    closes: dict[int, int] = {}
    for found in _BRACKETS.finditer(sql):
        if found["bracket"] == "(":
            opened.append(found.start())
        elif found["bracket"] and opened:
            closes[opened.pop()] = found.start()
    inner = {
        start: first
        for start, end in closes.items()
        if (first := _next(sql, start)) in closes and not sql[closes[first] + 1 : end].strip()
    }
    characters = list(sql)
    for start, first in inner.items():
        if first in inner:
            characters[start] = characters[closes[start]] = " "
    return "".join(characters)


def _next(sql: str, at: int) -> int:
    """Return the place of the next character that is no blank."""
    found = _SEEN.search(sql, at + 1)
    return found.start() if found else len(sql)


def _quoted_name(part: exp.Expr) -> exp.Identifier | None:
    """Return the name that a text next to a dot is; None if it is none."""
    if isinstance(part, exp.Literal) and part.is_string:
        return exp.to_identifier(part.name, quoted=True)
    return part if isinstance(part, exp.Identifier) else None


_OWN_WORDS = ("no window follows", "is no operator")
"""Descriptions of errors that this module raises itself."""


def _unread(sql: str, error: ParseError) -> Untranslatable:
    """Return the error for a text that sqlglot cannot parse: SQLite's own objection comes first."""
    [*_, first] = error.errors[:1] or [{}]
    if "does not support CTE" in str(first.get("description")):
        return _no_query("the statement after WITH")
    refused = syntax_error(sql)
    why = _why_unread(first) if refused is None else f"SQLite refuses it: {refused}"
    return Untranslatable("the statement", why, _offset(sql, first))


def _why_unread(error: Mapping[str, Any]) -> str:
    """Return a sentence on what cannot be parsed, from an error of sqlglot's parser."""
    described, text = str(error.get("description") or ""), str(error.get("highlight") or "").strip()
    if any(words in described for words in _OWN_WORDS):
        return f"it cannot be read: {described}"
    return f"what stands at {text!r} is not translated" if text else "its end is missing, or not translated"


def parse(sql: str) -> exp.Query | exp.Values:
    """Parse one SELECT, VALUES or compound statement.

    Raises:
        Untranslatable: the text is not one such statement, or sqlglot cannot parse it.
    """
    if not _QUERY.match(sql):
        refuse_statements(sql)
        raise Untranslatable("the statement", "it does not begin like a query")
    return _only_query(sql)


def refuse_numbers(sql: str, names: Iterable[exp.Identifier]) -> None:
    """Refuse names of a text that begin like numbers.

    Raises:
        Untranslatable: there is one.
    """
    for name in names:
        start = name.meta_get("start")
        if start is not None and sql[start : start + 1].isdigit():
            raise Untranslatable(name.name, "it is neither a number nor a name", start)


def _only_query(sql: str) -> exp.Query | exp.Values:
    text = _shallow(sql)
    try:
        statements = [tree for tree in _DIALECT.parser().parse(_tokens(text), text) if tree is not None]
    except ParseError as error:
        raise _unread(sql, error) from error
    except RecursionError as error:
        raise Untranslatable("the statement", "it is nested too deeply") from error
    except SqlglotError as error:
        raise Untranslatable("the statement", f"it cannot be read: {' '.join(str(error).split())}") from error
    statements = [tree for tree in statements if not isinstance(tree, exp.Semicolon)]
    if len(statements) != 1:
        raise Untranslatable("the statement", f"there are {len(statements)} statements instead of one")
    [tree] = statements
    while isinstance(tree, exp.Subquery) and set(tree.args) & {"joins"} == set():
        tree = tree.this
    if not isinstance(tree, exp.Query | exp.Values):
        raise _no_query(tree.key.upper())
    return tree


# What other dialects write and SQLite does not take.

_SKIPPED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"|`[^`]*+`|--[^\n]*+|/\*.*?(?:\*/|$)", re.DOTALL)
"""Texts, quoted names and comments."""

_BOTH, _POSTGRESQL, _MYSQL = "MySQL and PostgreSQL", "PostgreSQL", "MySQL"
_SERVER = "SQL Server"
_FOREIGN = [
    (re.compile(pattern, re.IGNORECASE), shown, whose)
    for pattern, shown, whose in (
        ("::", "::", _POSTGRESQL),
        (r"\bI?LIKE\s+(?:ANY|ALL)\b", "LIKE ANY", _POSTGRESQL),
        (r"\bILIKE\b", "ILIKE", _POSTGRESQL),
        (r"\bSIMILAR\s+TO\b", "SIMILAR TO", _POSTGRESQL),
        (r"\bDISTINCT\s+ON\s*\(", "DISTINCT ON", _POSTGRESQL),
        (r"\bARRAY\s*\[", "ARRAY[...]", _POSTGRESQL),
        (r"\bE''", "E'...'", _POSTGRESQL),
        (r"!?~~?\*?\s*''", "~", _POSTGRESQL),
        (r"\bWITHIN\s+GROUP\b", "WITHIN GROUP", _POSTGRESQL),
        (r"\bLATERAL\b", "LATERAL", _BOTH),
        (r"\bGROUPING\s+SETS\b|\bWITH\s+ROLLUP\b", "GROUP BY ROLLUP", _BOTH),
        (r"\bFETCH\s+(?:FIRST|NEXT)\b", "FETCH FIRST", _POSTGRESQL),
        (r"\bLIMIT\s+ALL\b", "LIMIT ALL", _POSTGRESQL),
        (r"\b(?:DATE|TIMESTAMP)\s+''", "DATE '...'", _BOTH),
        (r"\bEXTRACT\s*\(", "EXTRACT(... FROM ...)", _BOTH),
        (r"\bINTERVAL\b", "INTERVAL", _BOTH),
        (r"\bRLIKE\b", "RLIKE", _MYSQL),
        (r"\bSEPARATOR\b", "SEPARATOR", _MYSQL),
        (r"\b(?:DIV|XOR)\b", "DIV or XOR", _MYSQL),
        (r"<=>", "<=>", _MYSQL),
        (r"&&", "&&", _MYSQL),
        (r"\bSTRAIGHT_JOIN\b", "STRAIGHT_JOIN", _MYSQL),
        (r"\bSELECT\s+(?:DISTINCT\s+)?TOP\b", "TOP", _SERVER),
        (r"\bN''", "N'...'", _SERVER),
    )
]  # fmt: skip
"""Patterns of a text without what `_SKIPPED` finds, how to name them, and whose they are."""

_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_OF_SYNTAX = ("syntax error", "unrecognized token", "incomplete input", "malformed")


_FUNCTIONS = {
    _MYSQL: (
        "CONVERT CURDATE CURTIME DATEDIFF DATE_ADD DATE_FORMAT DATE_SUB DAY DAYNAME DAYOFMONTH DAYOFWEEK"
        " DAYOFYEAR FIELD FIND_IN_SET FROM_UNIXTIME HOUR LAST_DAY LOCATE MINUTE MONTH MONTHNAME QUARTER"
        " SECOND STR_TO_DATE SUBSTRING_INDEX SYSDATE TIMESTAMPDIFF UNIX_TIMESTAMP WEEK WEEKDAY YEAR"
    ),
    _POSTGRESQL: (
        "AGE ARRAY_AGG ARRAY_LENGTH BOOL_AND BOOL_OR DATE_PART DATE_TRUNC GENERATE_SERIES INITCAP MAKE_DATE"
        " PERCENTILE_CONT PERCENTILE_DISC REGEXP_MATCHES SPLIT_PART STRING_TO_ARRAY STRPOS TO_CHAR TO_DATE"
        " TO_NUMBER TO_TIMESTAMP UNNEST"
    ),
    _BOTH: (
        "CHAR_LENGTH CUBE GREATEST LEAST LPAD NOW POSITION REGEXP_LIKE REGEXP_REPLACE REPEAT REVERSE ROLLUP"
        " RPAD"
    ),
    _SERVER: "CHARINDEX DATEADD DATENAME GETDATE ISNULL LEN TRY_CAST TRY_CONVERT",
}
_WHOSE = {name: whose for whose, names in _FUNCTIONS.items() for name in names.split()}
"""Functions that SQLite lacks, in upper case, and whose they are."""


def syntax_error(sql: str) -> str | None:
    """Return SQLite's message about a text that is not its SQL; None if it can be parsed."""
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.execute(f"EXPLAIN {sql}")
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
        # Names are unknown here, in an empty database.
        return str(error) if any(words in str(error) for words in _OF_SYNTAX) else None
    return None


def foreign(sql: str) -> str | None:
    """Return a sentence on what is of another dialect in a text that SQLite does not take.

    None if SQLite takes the syntax and the functions, or nothing in it is known to be of another dialect.
    """
    bare = _SKIPPED.sub(lambda found: "''" if found[0].startswith("'") else " ", sql)
    if syntax_error(sql) is not None:
        for pattern, shown, whose in _FOREIGN:
            if pattern.search(bare):
                return f"{shown} is {whose} syntax, which SQLite does not take"
    for call in _CALL.finditer(bare):
        if owner := _WHOSE.get(call[1].upper()):
            return f"{call[1]}() is a {owner} function, which SQLite lacks"
    return None


def view_query(sql: str) -> exp.Query | exp.Values:
    """Parse the query after AS in CREATE VIEW.

    Raises:
        Untranslatable: sqlglot cannot parse it.
    """
    depth = 0
    for token in _DIALECT.tokenize(sql):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if token.token_type is TokenType.ALIAS and not depth:
            return parse(sql[token.end + 1 :])
    raise Untranslatable("the view", "it has no query")


def position(node: exp.Expr) -> int | None:
    """Return a node's offset in the text, in characters; None if the parser did not record it."""
    for part in find_all(node, exp.Expr):
        start = part.meta_get("start")
        if isinstance(start, int):
            return start
    return None
