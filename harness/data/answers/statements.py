"""Where a query begins and ends in a text, and whether a text is one statement.

Every pattern reads a text in a time that grows with its length; none backtracks. A statement is parsed only
where candidates compete, and only within a budget.
"""

import re
from dataclasses import dataclass, field
from string import ascii_letters

from dialects.enums import Dialect
from harness.engines import EngineName, kind_of

NAME = r"(?:\w++|\"[^\"\n]++\"|`[^`\n]++`|\[[^\[\]\n]++\])"
WITH = rf"WITH\s++(?:RECURSIVE\s++)?{NAME}\s*+(?:\([^()]*+\)\s*+)?AS\b"
_ENGLISH = (
    r"the|was|is|are|were|which|that|this|these|those|all|any|each|every|only|some|your|it|its|statements?|"
    r"clauses?|query|queries|keyword|and|or|but|with|because|since|for|to|by|picks|returns|lists|gets|means|"
    r"rows|columns|records|everything|anything|an?\s++(?!(?:from|as)\b)[a-z]"
)
SELECT = (
    rf"(?:SELECT|select)\b(?!\s++(?:{_ENGLISH})\b)"
    rf"|Select\b(?!\s++(?:{_ENGLISH})\b)(?=[^;]{{0,300}}?\b[Ff][Rr][Oo][Mm]\b)"
)
"""In prose: a sentence may begin with the word, too."""
VALUES = r"VALUES\s*+(?:ROW\s*+)?\(\s*+(?=[\d'\"+.(-]|(?:NULL|TRUE|FALSE|SELECT|CAST|DATE)\b)"
QUERY = rf"(?:\(\s*+){{0,40}}+(?:{SELECT}|(?i:{WITH}|{VALUES}))"
"""The beginning of a query in prose."""
FROM_FIRST = rf"(?:FROM|from)\s++(?!(?:{_ENGLISH})\b)(?=[\w\"'`(\[])"
"""The beginning of `FROM t SELECT a`, or `FROM t`, on engines that have it."""
_STARTS = re.compile(rf"(?:SELECT\b|{WITH}|{VALUES})", flags=re.IGNORECASE)
_STARTS_OR_FROM = re.compile(rf"(?:SELECT\b|{WITH}|{VALUES}|{FROM_FIRST})", flags=re.IGNORECASE)
_SPACE = re.compile(r"[\s(\ufeff]*+")


def begin(text: str, dialect: EngineName = Dialect.SQLITE) -> int | None:
    """Return where the query begins that a text begins with after comments; None if it begins otherwise."""
    at = 0
    while True:
        match = _SPACE.match(text, at)
        at = match.end() if match else at
        if text.startswith(("--", "#"), at):
            found = text.find("\n", at)
        elif text.startswith("/*", at):
            found = text.find("*/", at) + 1 or -1
        else:
            return at if _starts(dialect).match(text, at) else None
        if found < 0:
            return None
        at = found + 1


def continues(text: str) -> bool:
    """True if a text begins as a query's further lines do."""
    return _CONTINUES.match(text.lstrip()) is not None


def has_start(text: str, dialect: EngineName) -> bool:
    """True if a query may begin somewhere in a text."""
    return _starts(dialect).search(text) is not None


def _starts(dialect: EngineName) -> re.Pattern[str]:
    return _STARTS_OR_FROM if kind_of(dialect).begins_with_from else _STARTS


def is_from_first(text: str, at: int) -> bool:
    """True if the query that begins there begins with FROM."""
    return text[at : at + 4].lower() == "from"


# Tokens of SQL in a text of which the rest may be prose.

_TOKENS_OF_TEXT = (
    r"(?<=\bE)'(?:[^'\\]++|''|\\.)*+'|'(?:[^']++|'')*+'|\"(?:[^\"]++|\"\")*+\"|(?P<fence>```++|~~~++)|`[^`]*+`|"
    r"(?P<comment>--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)|"
    r"(?P<entity>&(?:lt|gt|amp|quot|apos|nbsp|\#\d{1,5}|\#x[0-9a-f]{1,4});)|"
    r"(?P<end>;)|(?P<stop>[\uff1b»」』]|\b(?:rather than|instead of|as opposed to)\b)|"
    r"(?P<break><br[ ]?/?>)|"
    r"(?P<gap>\r?\n[ \t]*+\r?\n\s*+)|(?P<line>\r?\n[ \t]*+)|(?P<space>[ \t]++)|"
    r"(?P<close>(?<=[\w)\"'`;])\*\*\*(?!\*)|\*\*(?!\*)|"
    r"</?[a-z][\w-]*+(?: [^<>\n]*+)?+>|\[/?[a-z]++\](?=\s|\Z))|"
    r"(?P<period>\.(?=[ \t]++[A-Z]|[ \t]*+(?:\r?\n|\Z))|。)|"
    r"(?P<open>\()|(?P<shut>\))|[^'\"`\-/&;\uff1b»」』\r\n \t*<()\[.。$]++|."
)
_TOKEN = re.compile(_TOKENS_OF_TEXT, flags=re.DOTALL | re.IGNORECASE)
_TOKEN_BACKSLASHES = re.compile(
    r"'(?:[^'\\]++|''|\\.)*+'|\"(?:[^\"\\]++|\"\"|\\.)*+\"|" + _TOKENS_OF_TEXT,
    flags=re.DOTALL | re.IGNORECASE,
)
"""Of dialects in whose literals a backslash escapes."""
_TOKEN_DOLLARS = re.compile(
    r"\$(?P<dollars>\w{0,30}+)\$(?:[^$]++|\$(?!(?P=dollars)\$)){0,20}+\$(?P=dollars)\$|" + _TOKENS_OF_TEXT,
    flags=re.DOTALL | re.IGNORECASE,
)
"""Of dialects with literals between dollars."""


def _token(dialect: EngineName) -> re.Pattern[str]:
    kind = kind_of(dialect)
    if kind.escapes_by_backslash:
        return _TOKEN_BACKSLASHES
    return _TOKEN_DOLLARS if kind.quotes_by_dollars else _TOKEN


_OPENING = re.compile(r"<\w")
_TAGS = re.compile(
    r"</?(?:\w*sql\w*|\w*query\w*|\w*answer\w*|solution|output|result|response|final|code|execute|text|p|pre|"
    r"parameter|function|invoke|tool_call)(?:[ =][^<>\n]*+)?+>|</[a-z][\w-]*+>|\*\*|"
    r"\[/?(?:sql|answer|query|solution)\]|"
    r"\[(?-i:END|EOS|DONE|STOP)\]\s*+\Z",
    flags=re.IGNORECASE,
)
_KEYWORDS = (
    r"SELECT|FROM|WHERE|GROUP|ORDER|HAVING|LIMIT|OFFSET|UNION|EXCEPT|INTERSECT|JOIN|INNER|LEFT|RIGHT|FULL|"
    r"OUTER|CROSS|NATURAL|STRAIGHT_JOIN|ON|USING|AND|OR|NOT|IN|IS|LIKE|BETWEEN|WINDOW|VALUES|WITH|AS|CASE|"
    r"WHEN|THEN|ELSE|END|FETCH|COLLATE|ASC|DESC|NULLS"
)
_CONTINUES = re.compile(
    rf"(?:(?:{_KEYWORDS})\b|[(),'\"`+*/<>=%-]|\|\||\w++[ \t]*+(?:\(|,|\.\w|AS\b))", flags=re.IGNORECASE
)
_OPEN_MARKS = tuple(",(=<>+/|%-")
_OPEN_WORDS = frozenset({
    "SELECT", "DISTINCT", "FROM", "WHERE", "AND", "OR", "NOT", "ON", "BY", "AS", "IN", "JOIN", "UNION", "ALL",
    "EXCEPT", "INTERSECT", "HAVING", "WHEN", "THEN", "ELSE", "CASE", "LIKE", "BETWEEN", "OVER", "LIMIT",
    "OFFSET", "WITH", "RECURSIVE", "USING", "IS", "EXISTS", "ORDER", "GROUP",
})  # fmt: skip
"""What a statement cannot end with. A search for the end of a text takes longer, and every line needs it."""
_COMBINES = re.compile(r"\b(?:UNION|ALL|EXCEPT|INTERSECT|DISTINCT)\Z", flags=re.IGNORECASE)
_STOP = re.compile(
    r"#{1,6}[ \t]|[-=_*.]{3,}+[ \t]*+$|\\end\{|--[ \t]*+Using valid[ \t]++\w++[ \t]*+,|"
    r"\[[\w /-]{1,40}+\]:|(?<=\n)[a-z][\w-]{0,40}+:(?=\s|\Z)|"
    r"\*\*|\|(?!\|)|[A-Z][\w/() -]{0,40}+:(?!:)|\w{1,20}+\uff1a|"
    r"```|~~~|\$\$|'''|\"\"\"|/\*[ \t]*+(?:Answer|Given|Some|Complete)\b|"
    r"(?:sql|user|human|assistant|system|question|answer|note|explanation|output|result)\w*+[ \t]*+:(?!:)|"
    r"(?:user|human|assistant)[ \t]*+$",
    flags=re.MULTILINE,
)
"""A line that is not SQL, whatever precedes it."""
_WORDS = re.compile(
    r"(?:[A-Z]?[a-z'\u2019]++|[A-Z])[,;]?[ \t]++"
    r"(?!(?:as|asc|desc|is|in|like|between|and|or|not|on|join|from)\b)[a-z'\u2019]++\b(?![ \t]*+[(,.]\w)|"
    r"(?:With|From|In|As|On|And|Or|Using|Where|Select|When|Then|Not|Is|Case|End|Order|Group|Left|Right|Values|"
    r"Limit|Inner|Full|Like|Between)[ \t]++[a-z]|[^\x00-\x7f]|[-•][ \t]++[A-Za-z]|\d++[.)][ \t]++[A-Z]"
)
"""A line that may be prose."""
_AFTER_TABLE = r"(?:where|inner|left|right|full|cross|natural|join|on|using|group|order|limit|having|union)\b"
_LOWER_CLAUSE = re.compile(
    rf"(?:from[ \t]++(?!(?:{_ENGLISH})\b)[\w.\"`\[\]]++(?:[ \t]++as\b)?+(?:[ \t]++(?!{_AFTER_TABLE})\w++)?+"
    rf"[ \t]*+(?:,|\Z|\r?\n|;|{_AFTER_TABLE})|"
    r"(?:(?:inner|left|right|full|cross|natural)[ \t]++)?+(?:outer[ \t]++)?+"
    rf"join[ \t]++(?!(?:{_ENGLISH})\b)[\w.\"`(\[]|"
    rf"(?:group|order)[ \t]++by[ \t]++(?!(?:{_ENGLISH}|clause)\b)|limit[ \t]++\d|offset[ \t]++\d|"
    r"(?:union|except|intersect)(?:[ \t]++all)?+[ \t]*+(?:\Z|\r?\n)|"
    r"(?:where|having|and|or|on|when|else|end)\b"
    r"(?=[^\n]{0,300}?(?:[=<>('\"]|\bis[ \t]++(?:not[ \t]++)?null\b|"
    r"\bbetween[ \t]++\d|\bnot[ \t]++exists\b)))"
)
"""A further line of a query in lower case that is no sentence."""
_SELECTS = re.compile(r"(?:SELECT|WITH)\b", flags=re.IGNORECASE)


def end(text: str, start: int, limit: int, budget: "ParseBudget") -> int:
    """Return where the query that begins at `start` ends: before a semicolon's next, a tag, a fence or prose.

    Where a blank line or a line like prose may or may not be its end, the first end counts at which it is
    one statement.
    """
    ends = _ends(text, start, limit, budget.dialect, budget.lines)
    budget.lines -= ends.lines
    if not ends.soft and not ends.weak:
        return ends.hard
    first = ends.soft[0] if ends.soft else ends.hard
    before = [place for place in ends.weak if place < first]
    places: list[int] = [first, *before[:-3:-1], *ends.soft[1:3], ends.hard]
    for place in places:
        if budget.is_statement(text[start:place]):
            return place
    return first


_MOST_SOFT, _MOST_WEAK = 3, 40
"""Possible ends after which a query is not read on: what follows would be read again for the next one."""


@dataclass
class _Ends:
    """Where a query that begins at `start` must end, where it probably does, and where it may.

    `is_selected` is False up to the SELECT of a query that begins with FROM.
    """

    hard: int
    is_selected: bool = True
    start: int = 0
    lines: int = 0
    soft: list[int] = field(default_factory=list)
    weak: list[int] = field(default_factory=list)


def _is_open(before: str) -> bool:
    """True if no statement ends with this text."""
    rest = before.rstrip(ascii_letters)
    word = before[len(rest) :].upper()
    return before.endswith(_OPEN_MARKS) or (word in _OPEN_WORDS and not rest[-1:].replace("_", "0").isalnum())


def _ends(  # noqa: C901, PLR0911 - a case for each kind of token
    text: str, start: int, limit: int, dialect: EngineName, lines: int
) -> _Ends:
    ends = _Ends(limit, not is_from_first(text, start), start)
    depth, last = 0, start
    for token in _token(dialect).finditer(text, start, limit):
        kind = token.lastgroup
        if kind is None:  # Most are.
            last = token.end()
            if not ends.is_selected and depth == 0:
                ends.is_selected = token[0].lower() == "select"
            continue
        if kind == "end":
            ends.hard = token.end()
            return ends
        if kind in {"fence", "stop"}:
            ends.hard = token.start()
            return ends
        if kind in {"gap", "line"}:
            at = token.end()
            if at >= limit or _STOP.match(text, at, limit) or _TAGS.match(text, at):
                ends.hard = token.start()
                return ends
            ends.lines += 1
            _at_line(ends, text, token, text[max(start, last - 12) : last], depth)
            is_over = ends.lines > lines and (ends.soft or ends.weak)
            if is_over or len(ends.soft) > _MOST_SOFT or len(ends.weak) > _MOST_WEAK:
                ends.hard = token.start()
                return ends
        elif kind == "close" and not _OPENING.match(text, token.start()) and _TAGS.match(text, token.start()):
            ends.hard = token.start()
            return ends
        elif kind not in {"comment", "space"}:
            if kind == "period":
                ends.soft.append(token.start())
                if len(ends.soft) > _MOST_SOFT:
                    ends.hard = token.start()
                    return ends
            depth += (kind == "open") - (kind == "shut")
            last = token.end()
    return ends


def _at_line(ends: _Ends, text: str, token: re.Match[str], before: str, depth: int) -> None:
    """Note a line break, or a blank line, as a possible end of the query that precedes it.

    Args:
        ends: the ends so far.
        text: the whole text.
        token: the line break.
        before: the end of the query so far, without comments.
        depth: the number of open brackets.
    """
    at, is_blank = token.end(), token.lastgroup == "gap"
    begins_query = ends.is_selected and _SELECTS.match(text, at) is not None
    if depth > 0 or _is_open(before):
        if begins_query and depth <= 0 and not _COMBINES.search(before):
            ends.weak.append(token.start())
    elif begins_query:
        (ends.weak if before.endswith(")") else ends.soft).append(token.start())
    elif not is_blank and text.startswith(("select", "with"), ends.start) and _LOWER_CLAUSE.match(text, at):
        return
    elif _WORDS.match(text, at) or (is_blank and not _CONTINUES.match(text, at)):
        ends.soft.append(token.start())
    elif is_blank:
        ends.weak.append(token.start())


def statements_of(text: str, dialect: EngineName) -> list[str]:
    """Split a text at its semicolons; each part has its own."""
    parts: list[str] = []
    at = 0
    for token in _token(dialect).finditer(text):
        if token.lastgroup == "end":
            parts.append(text[at : token.end()].strip())
            at = token.end()
    rest = text[at:].strip()
    return [*parts, rest] if rest else parts


def last_query(text: str, dialect: EngineName) -> str | None:
    """Return the last statement of a text that begins as a query; None if none does."""
    parts = reversed(statements_of(text, dialect))
    return next((part for part in parts if begin(part, dialect) is not None), None)


def without_breaks(text: str, dialect: EngineName) -> str:
    """Return a query with a new line for each `<br>` outside of literals, names and comments."""
    parts: list[str] = []
    at = 0
    for token in _token(dialect).finditer(text):
        if token["break"]:
            parts.append(text[at : token.start()].rstrip(" \t"))
            at = token.end()
            at += len(text) - at - len(text[at:].removeprefix("\r").removeprefix("\n"))
    return "\n".join([*parts, text[at:]])


def has_entity(text: str, dialect: EngineName) -> bool:
    """True if something outside of literals, names and comments is escaped for HTML."""
    return "&" in text and any(token["entity"] for token in _token(dialect).finditer(text))


_PARSED = re.compile(r"\w++|[^\w\s]")
_OF_A_TEXT, _OF_A_TOKEN, _USUAL_DEPTH = 150, 4, 8


def _work(text: str) -> int:
    """Return what it takes to parse a text, in characters of an ordinary query."""
    depth = most = tokens = 0
    for one in _PARSED.finditer(text):
        tokens += 1
        depth += (one[0] == "(") - (one[0] == ")")
        most = max(most, depth)
    return _OF_A_TEXT + max(len(text), _OF_A_TOKEN * tokens) * (1 + most // _USUAL_DEPTH)


@dataclass
class ParseBudget:
    """Parses candidates of one answer, as many as fit a budget of characters.

    What does not fit counts as a statement: nothing speaks against it.
    """

    dialect: EngineName
    left: int = 2_000
    lines: int = 800
    """Lines of all queries together; after them, a query ends at the first break that may be its end."""
    _known: dict[str, bool] = field(default_factory=dict)

    def is_statement(self, sql: str) -> bool:
        """True if a text is one query of the dialect, or too long to be parsed."""
        text = sql.strip().removesuffix(";")
        if text not in self._known:
            if len(text) > self.left:
                return True
            self.left -= _work(text)
            self._known[text] = _is_query(text, self.dialect)
        return self._known[text]


def _is_query(text: str, dialect: EngineName) -> bool:
    from sqlglot import exp  # noqa: PLC0415 - slow to import, and most answers have one candidate

    from dialects.clauses import sources_of  # noqa: PLC0415 - the same
    from harness.sqltree.parser import statements  # noqa: PLC0415 - the same

    try:
        trees = statements(text, dialect)
    except Exception:  # noqa: BLE001 - what sqlglot raises for texts that are no SQL is of many kinds
        return False
    if len(trees) == 1 and isinstance(trees[0], exp.Values):
        return True
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return False
    first = trees[0]
    while isinstance(first, exp.Subquery | exp.SetOperation):
        first = first.this
    if not isinstance(first, exp.Select):
        return True
    if not first.expressions:
        return False
    return next(iter(sources_of(first)), None) is not None or not any(
        isinstance(one.unalias(), exp.Column) and not one.unalias().this.args.get("quoted")
        for one in first.expressions
    )
