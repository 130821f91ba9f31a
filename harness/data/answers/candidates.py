"""The queries in a reply, each with the rule that finds it: tags, blocks, JSON, labels, prose.

One pass from left to right, in which a query is a whole: nothing within its literals counts as a mark.
"""

import re
import sys
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

from harness.data.answers import documents
from harness.data.answers.statements import (
    FROM_FIRST,
    QUERY,
    ParseBudget,
    begin,
    end,
    has_start,
    is_from_first,
    last_query,
    without_breaks,
)
from harness.engines import EngineName, kind_of


class CandidateKind(IntEnum):
    """How a reply marks a query, weakest first."""

    MENTION = 0
    """Within a sentence."""
    INLINE = 1
    """In backticks."""
    PROSE = 2
    """At the beginning of a line, or after a label."""
    BLOCK = 3
    """In a code block or a document."""
    TAG = 4
    """In tags of a query."""
    ANSWER = 5
    """In tags of an answer: nothing else counts."""


@dataclass(frozen=True)
class QueryCandidate:
    """A query in a reply, from `start` to `stop`; `weight` is that of its key in a document."""

    sql: str
    kind: CandidateKind
    rule: str
    start: int
    stop: int
    weight: int | None = None
    emphasis: int = 0


@dataclass(frozen=True)
class Candidates:
    """All queries of a reply; `is_refused`: an answer's tags hold something else than a query."""

    found: list[QueryCandidate]
    is_refused: bool = False


_ANSWER = r"final[_ -]?answers?|answers?|solutions?|final[_ -]?(?:sql|query)(?:[_ -]?query)?"
_SQL = r"\w*sql\w*|\w*quer(?:y|ies)\w*|code|output|result|response|final|execute|parameter[ =][^<>\n]{0,30}+"
_BULLET = r"(?:[-*+•][ \t]++|\(?\d{1,3}[.)][ \t]++|[A-Za-z][.)][ \t]++|>[ \t]?|(?:\w++=?[#>])[ \t]++)"
_INFO = r"[\w+#.-]*+"
_MARKS = (
    rf"(?P<fence>```++|~~~++)[ \t]*+(?:\{{?\.?(?P<info>{_INFO})\}}?)(?P<alone>[ \t]*+$)?|"
    rf"<(?P<closes>/?)(?:(?P<answer>(?i:{_ANSWER}))|(?P<tag>(?i:{_SQL})))"
    r"(?:[ \t][^<>\n]*+)?+>(?:<!\[CDATA\[)?+|"
    r"\[(?P<ends>/?)(?P<bracket>(?i:sql|query|answer|solution))\]|"
    r"\\(?P<boxed>boxed|fbox)\{|"
    r"\\(?P<code>texttt|lstinline|verb)\*?(?P<delimiter>[{|+!/@~])|"
    rf"(?<![|\\])\|[ \t]*+(?P<cell>{QUERY})|"
    r"(?P<document>[{\[])(?=\s*+[\"'{\[])|"
    r"(?P<pair>[\"'])(?=[\w -]{1,40}+[\"'][ \t]*+:)|"
    r"(?<!`)``(?!`)(?P<two>[^`\n]++(?:`[^`\n]++)*+)``(?!`)|"
    r"(?<!`)`(?P<one>[^`\n]++)`(?!`)|"
    r"(?P<next>^[ \t#*]*+(?:(?i:question|q|user|human|input|instruction|user question)\**+[ \t]*+[:\uff1a]|"
    r"(?i:user|human)[ \t]*+$)|^/\*[ \t]*+(?:Answer|Given|Some|Complete)\b|"
    r"^--[ \t]*+(?:Using valid[ \t]++\w++[ \t]*+,|(?i:question|user question)\b[ \t]*+\d{0,4}+[:\uff1a]))|"
    rf"^[ \t]*+{_BULLET}?+(?P<comment>--(?!-)|/\*)|"
    rf"(?:^[ \t]*+{_BULLET}?+|[:\uff1a>»→;][ \t]*+|=[ \t]*+(?!\()"
    r"|(?<=[>\[\]])[ \t]*+|(?:\breturn[ \t]++|\()(?=[rRfF]{0,2}+[\"'])|(?<=\s)(?=[\"“]))"
    rf"(?:(?:\*\*\*|\*\*|__|(?P<emphasis>[*_]))[ \t]*+)?+(?:[rRfF]{{1,2}}+(?=[\"']))?+"
    rf"(?P<quote>\"\"\"|\'\'\'|[\"'“\u2018«]?+)(?P<sql>"
)
_MARK = re.compile(rf"{_MARKS}{QUERY})", flags=re.MULTILINE)
_MARK_OR_FROM = re.compile(rf"{_MARKS}(?:{QUERY}|{FROM_FIRST}))", flags=re.MULTILINE)
_NAME = re.compile(r"\w*+")
_RUN = re.compile(r"(?P<fence>```++|~~~++)(?P<info>[ \t]*+[A-Za-z][\w+#-]*+[ \t]*+$)?", flags=re.MULTILINE)
_CELL = re.compile(r"(?:'(?:[^'\n]++|'')*+'|\"[^\"\n]*+\"|\\\||\|\||[^|\n'\"\\]++|[\\'\"])*+")
"""A cell of a table, from where its query begins."""
_EMPHASIS_ENDS = {mark: re.compile(rf"(?<=[^\s(*,.])\{mark}(?![\w*)])|\n[ \t]*+\n|;") for mark in ("*", "_")}
_BRACE = re.compile(r"\\[{}]|[{}]")
_LATEX = re.compile(r"\\(?:text|texttt|mathtt|mathrm|verb|textsf|textbf)\{|\\(?P<one>[_%&#${} ])")
_LITERAL = re.compile(
    r"\"\"\"((?:[^\"\\]++|\\.|\"(?!\"\"))*+)(?:\"\"\"|(?P<open>\Z))|"
    r"'''((?:[^'\\]++|\\.|'(?!''))*+)(?:'''|(?P<open2>\Z))|"
    r"\"((?:[^\"\\\n]++|\\.)*+)(?:\"|(?P<open3>\n|\Z))|"
    r"'((?:[^'\\\n]++|\\.)*+)(?:'|(?P<open4>\n|\Z))",
    flags=re.DOTALL,
)
"""A literal of a program; one that is not closed ends with its line, or with the text."""
_JOINED = re.compile(r"[ \t]*+(?:[+.\\][ \t]*+){0,2}+(?:\r?\n)?+[ \t]*+(?:[+.&][ \t]*+)?+[rRfF]?+")
"""What joins two literals of a program."""
_IS_OPEN = re.compile(r"(?:\(|\b(?:UNION|ALL|EXCEPT|INTERSECT|IN|AS|EXISTS))\s*+\Z", flags=re.IGNORECASE)
_MENTION = re.compile(r"(?<![\w'\"`(])SELECT\s")
_OF_MENTION = re.compile(r";[;\s]*+|\bFROM\b")
_MOST_MENTIONS, _LONGEST_COLUMNS = 4, 400
_OF_ANOTHER = re.compile(r"\b(?:EXPLAIN|PLAN|ANALYZE|AS|INTO|EXISTS|IN)\s*+\Z|\)\s*+\Z", flags=re.IGNORECASE)
"""A statement whose part a query is."""
_CONTINUATION = re.compile(
    r"\s*+(?!\[\s*+[\"'])(?!\(*+\s*+(?i:_?select|with|the|here|this|to|we|i|delete|insert|update|create|drop|explain|from|sql)\b)"
    r"(?:DISTINCT\b|[\w(\"`\[]|\*\s++FROM\b)(?!\"\")"
    r"(?=(?:(?!(?i:\bselect\b|:=))[^;:\uff1a=]){0,400}?(?:\bFROM\b|[*).]\s++from\b))"
)
_NEXT_QUERY = re.compile(rf"[ \t\r\n]*+(?P<sql>{QUERY})")
_NEXT_QUERY_OR_FROM = re.compile(rf"[ \t\r\n]*+(?P<sql>{QUERY}|{FROM_FIRST})")
_WRITES = re.compile(r"\b(?:INSERT|REPLACE)\s++(?:OR\s++\w++\s++)?INTO\b", flags=re.IGNORECASE)
_SQL_LANGUAGES = frozenset({
    "", "sql", "sqlite", "sqlite3", "mysql", "postgres", "postgresql", "pgsql", "psql", "plpgsql", "tsql",
    "duckdb", "mariadb", "text", "txt", "plaintext", "plsql", "ansi", "bigquery", "snowflake", "sparksql",
})  # fmt: skip
_NO_PROGRAMS = _SQL_LANGUAGES | {"json", "yaml", "yml"}
_CLOSING = {"“": "”", "\u2018": "\u2019", "«": "»"}
_BOUNDARY = re.compile(r"[.,;:!?)\]}\s*]|\Z")
_HAS_MORE = re.compile(r"[(\s]*+\w++[^\w;]++\S|[(\s]*+\w++\s*+[*\"'`\[(]")
"""A query is more than its first word."""
_MOST_DEPTH = 5
_MOST_FAILURES = 3
_MOST_FAILURES_OF_FROM = 10
"""Lines that begin with FROM and are no query, of one answer."""
_MOST_CANDIDATES = 100
_MOST_REPAIRS = 40
"""Texts with quotes that were not escaped, of one answer."""
MOST_MARKS = 600
"""Marks of one answer that are read."""
_MOST_QUOTES = 100


@dataclass
class Reader:
    """Reads one reply.

    Args:
        budget: parses where a query's end is in doubt.
    """

    budget: ParseBudget
    _failures: int = 0
    marks: int = 0
    repairs: int = 0
    failures_of_from: int = 0
    is_refused: bool = False

    def read(self, text: str, depth: int = 0) -> list[QueryCandidate]:
        """Return the queries of a text, in order."""
        found = self._continued(text) if depth == 0 else []
        at = found[-1].stop if found else 0
        found += _Scan(self, text, depth).run(at, is_begun=bool(found))[0]
        if not found and depth == 0:
            found = self._mentioned(text)
        return found

    def one(self, content: str, depth: int) -> str | None:
        """Return the query that a block, a value or a box is about; None if it has none."""
        if depth > _MOST_DEPTH or not has_start(content, self.budget.dialect):
            return None
        dialect = self.budget.dialect
        is_query = begin(content, dialect) is not None or ";" in content
        query = last_query(content, dialect) if is_query else None
        if query is not None:
            start = begin(query, dialect) or 0
            stop = end(query, start, len(query), self.budget)
            if not query[stop:].strip() or self.budget.is_statement(query):
                return query
            content = query
        found = self.read(content, depth + 1)
        return best(found, content, self.budget).sql if found else None

    def _continued(self, text: str) -> list[QueryCandidate]:
        """Return the query of a text that continues the SELECT with which its prompt ended."""
        start = _CONTINUATION.match(text)
        if start is None:
            return []
        whole = f"SELECT {text.lstrip()}"
        stop = end(whole, 0, len(whole), self.budget)
        sql = whole[:stop].strip()
        if len(sql) > self.budget.left or not self.budget.is_statement(sql):
            return []
        return [QueryCandidate(sql, CandidateKind.PROSE, "continuation", 0, len(text) - len(whole) + stop)]

    def _mentioned(self, text: str) -> list[QueryCandidate]:
        """Return the queries within sentences that are statements."""
        found: list[QueryCandidate] = []
        at = 0
        if _MENTION.search(text) is None:
            return found
        marks = list(_OF_MENTION.finditer(text))
        places = [mark.start() for mark in marks]
        mentions = []
        for match in _MENTION.finditer(text):
            place = bisect_left(places, match.end())
            if (
                place < len(marks)
                and not marks[place][0].startswith(";")
                and places[place] - match.end() <= _LONGEST_COLUMNS
            ):
                mentions.append(match)
        for match in mentions[-_MOST_MENTIONS:]:
            if match.start() < at or _OF_ANOTHER.search(text[max(0, match.start() - 30) : match.start()]):
                continue
            stop = end(text, match.start(), len(text), self.budget)
            sql = text[match.start() : stop].strip()
            if len(sql) <= self.budget.left and self.budget.is_statement(sql):
                found.append(QueryCandidate(sql, CandidateKind.MENTION, "mention", match.start(), stop))
                at = stop
        return found

    def decoded(self, text: str, at: int) -> tuple[Any, int] | None:
        """Return the document that begins there, and its end; a few that fail are tried, at their length."""
        if self._failures >= _MOST_FAILURES:
            return None
        found = documents.decode(text, at)
        self._failures += found is None
        return found


@dataclass
class _Scan:
    """A pass over a text."""

    reader: Reader
    text: str
    depth: int
    found: list[QueryCandidate] = field(default_factory=list)
    _comment: tuple[int, int] = (-1, -1)
    _is_commented: bool = True
    _braces: dict[int, int] | None = None
    _without: set[str] = field(default_factory=set)

    def run(
        self, at: int = 0, until: str | None = None, level: int = 0, *, is_begun: bool = False
    ) -> tuple[list[QueryCandidate], int]:
        """Return the queries from `at`, up to a closing tag `until`, and where that ends.

        `is_begun`: a query precedes, so that a next question ends the answer.
        """
        found: list[QueryCandidate] = []
        while len(found) < _MOST_CANDIDATES and (mark := self._next_mark(at)):
            name = (
                (mark["answer"] or mark["tag"] or mark["bracket"] or "").lower().split("=")[0].split(" ")[0]
            )
            if name:
                if mark["closes"] or mark["ends"]:
                    at = mark.end()
                    if name == until:
                        return found, at
                    continue
                if name == until or level > _MOST_DEPTH:
                    return (found, mark.start()) if name == until else (found, len(self.text))
                inner, at = self._tagged(mark, name, level)
                found += inner
            elif mark["next"] is not None:
                if is_begun or any(one.kind is not CandidateKind.INLINE for one in found):
                    return found, len(self.text)
                if mark["next"].startswith("--"):
                    one, at = self._after_comment(mark.start("next"), "--")
                    found += [one] if one else []
                else:
                    at = mark.end()
            else:
                one, at = self._marked(mark)
                if one is not None and not _outweighed(found, one):
                    found.append(self._with_lines(one))
        return found, len(self.text)

    def _next_mark(self, at: int) -> re.Match[str] | None:
        """Return the next mark, or None after the last and after `MOST_MARKS`."""
        self.reader.marks += 1
        if self.reader.marks > MOST_MARKS:
            return None
        has_from = kind_of(self.reader.budget.dialect).begins_with_from
        return (_MARK_OR_FROM if has_from else _MARK).search(self.text, at)

    def _tagged(self, mark: re.Match[str], name: str, level: int) -> tuple[list[QueryCandidate], int]:
        is_answer = mark["answer"] is not None or name in {"answer", "solution"}
        kind = CandidateKind.ANSWER if is_answer else CandidateKind.TAG
        if mark[0].endswith("["):  # CDATA
            stop = _next(self.text, "]]>", mark.end())
            sql = self.reader.one(self.text[mark.end() : stop], self.depth + 1)
            return ([QueryCandidate(sql.strip(), kind, "tag", mark.start(), stop)] if sql else []), stop
        inner, at = self.run(mark.end(), name, level + 1)
        content = self.text[mark.end() : at]
        if not inner:
            said = content.rpartition("</")[0].strip(" .…\n\t")
            if is_answer and said and at < len(self.text) + 1 and "</" in content[-40:]:
                self.reader.is_refused = True
            return [], at
        rule = "answer-tag" if is_answer else "tag"
        chosen = best(inner, self.text, self.reader.budget, at)
        others = [one for one in inner if one is not chosen]
        return [*others, replace(chosen, kind=max(kind, chosen.kind), rule=rule)], at

    def _marked(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        handlers: dict[str, Callable[[re.Match[str]], tuple[QueryCandidate | None, int]]] = {
            "fence": self._block, "boxed": self._box, "document": self._document, "pair": self._pair,
            "code": self._latex, "cell": self._cell, "two": self._inline, "one": self._inline,
            "comment": self._comments, "sql": self._prose,
        }  # fmt: skip
        name = next(name for name in handlers if mark[name] is not None)
        return handlers[name](mark)

    def _with_lines(self, one: QueryCandidate) -> QueryCandidate:
        """Return a candidate with new lines where it has `<br>`, unless that compares a column."""
        if "<br" not in one.sql.lower() or self.reader.budget.is_statement(one.sql):
            return one
        return replace(one, sql=without_breaks(one.sql, self.reader.budget.dialect))

    def _block(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        text, fence = self.text, mark["fence"]
        start = mark.end() if mark["alone"] is not None else mark.end("fence")
        stop = after = len(text)
        for run in _RUN.finditer(text, start):
            if run["fence"][0] != fence[0] or len(run["fence"]) < len(fence):
                continue
            at_line = text.rfind("\n", 0, run.start()) + 1
            if run["info"] and not text[at_line : run.start()].strip(" \t>-*"):
                if run["fence"] == fence and last_query(
                    text[start : run.start()], self.reader.budget.dialect
                ):
                    stop, after = run.start(), run.start()  # not closed, before the next one
                    break
                return None, run.start()  # a block in a block
            stop, after = run.start(), run.end("fence")
            break
        info = (mark["info"] or "").lower()
        content = text[start:stop]
        if mark["alone"] is None and info in _SQL_LANGUAGES and content.lstrip().lower().startswith(info):
            content = content.lstrip()[len(info) :]
        if info == "diff":
            lines = content.splitlines(keepends=True)
            content = "".join(line[1:] for line in lines if line[:1] in {"+", " "})
        sql = self._literal(content) if info and info not in _NO_PROGRAMS else None
        sql = sql or self.reader.one(content, self.depth)
        return (
            QueryCandidate(sql.strip(), CandidateKind.BLOCK, "block", mark.start(), after) if sql else None
        ), after

    def _literal(self, content: str) -> str | None:
        """Return the last query that is a literal of a program."""
        found: list[str] = []
        at = -1
        for match in _LITERAL.finditer(content):
            is_closed = match.lastgroup is None
            literal = match[match.lastindex or 0] if is_closed else ""
            is_joined = at >= 0 and _JOINED.fullmatch(content, at, match.start()) is not None
            at = -1
            if begin(literal, self.reader.budget.dialect) is not None and not (
                is_joined and found and _IS_OPEN.search(found[-1])
            ):
                found, at = [documents.unescape(literal)], match.end()
            elif is_joined and is_closed:
                found.append(documents.unescape(literal))
                at = match.end()
        return "".join(found) or None

    def _box(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        stop = self._closing(mark.end() - 1)
        stop = stop if stop >= 0 else len(self.text)
        content = _LATEX.sub(lambda one: one["one"] or "", self.text[mark.end() : stop]).rstrip(" }$")
        sql = self.reader.one(content, self.depth)
        return (QueryCandidate(sql, CandidateKind.ANSWER, "boxed", mark.start(), stop) if sql else None), stop

    def _closing(self, at: int) -> int:
        """Return where the brace closes that is opened at a place; -1 if it does not."""
        if self._braces is None:
            self._braces, opened = {}, []
            for brace in _BRACE.finditer(self.text):
                if brace[0] == "{":
                    opened.append(brace.start())
                elif brace[0] == "}" and opened:
                    self._braces[opened.pop()] = brace.start()
        return self._braces.get(at, -1)

    def _next(self, what: str, start: int) -> int:
        """Return where a delimiter comes next; -1 if it does not. One that is nowhere is looked for once."""
        if what in self._without:
            return -1
        found = self.text.find(what, start)
        if found < 0:
            self._without.add(what)
        return found

    def _latex(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        """Read code in a sentence of LaTeX."""
        start, delimiter = mark.end(), mark["delimiter"]
        stop = self._closing(start - 1) if delimiter == "{" else self._next(delimiter, start)
        code = self.text[start:stop] if stop >= 0 else ""
        if mark["code"] == "texttt":
            code = _LATEX.sub(lambda one: one["one"] or "", code)
        if begin(code, self.reader.budget.dialect) is None:
            return None, start
        return QueryCandidate(code.strip(), CandidateKind.INLINE, "inline", mark.start(), stop + 1), stop + 1

    def _cell(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        """Read a cell of a Markdown table that is a query."""
        start = mark.start("cell")
        line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
        cell = _CELL.match(self.text, start)
        if cell is None or not line.lstrip().startswith("|"):
            return None, start
        sql = cell[0].strip().replace("\\|", "|")
        one = self._with_lines(QueryCandidate(sql, CandidateKind.INLINE, "cell", mark.start(), cell.end()))
        return (one if self.reader.budget.is_statement(one.sql) else None), cell.end()

    def _document(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        at = mark.start()
        decoded = self.reader.decoded(self.text, at)
        if decoded is None:
            return None, at + 1
        content, after = decoded
        chosen: tuple[tuple[int, int], str] | None = None
        for value in documents.values(content):
            sql = self.reader.one(value.text, self.depth + 1)
            if sql and (chosen is None or (value.weight, -value.depth) >= chosen[0]):
                chosen = (value.weight, -value.depth), sql.strip()
        return (
            QueryCandidate(chosen[1], CandidateKind.BLOCK, "document", at, after) if chosen else None
        ), after

    def _pair(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        is_repaired = self.reader.repairs < _MOST_REPAIRS
        pair = documents.pair(self.text, mark.start(), is_repaired=is_repaired)
        if pair is None:
            is_cut_off = documents.is_cut_off(self.text, mark.start())
            return None, len(self.text) if is_cut_off else mark.end()
        self.reader.repairs += pair.is_unescaped
        sql = self.reader.one(pair.value.text, self.depth + 1) if pair.value.weight >= 0 else None
        if not sql:
            return None, pair.end
        weight = pair.value.weight
        return QueryCandidate(
            sql.strip(), CandidateKind.BLOCK, "document", mark.start(), pair.end, weight
        ), pair.end

    def _inline(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        code, after = (mark["two"] or mark["one"]).strip(), mark.end()
        if begin(code, self.reader.budget.dialect) is None:
            return None, after
        if mark["one"] and not _BOUNDARY.match(self.text, after):  # names in backticks within it
            line = self.text.find("\n", after)
            last = self.text.rfind("`", after, line if line >= 0 else len(self.text))
            if last > after:
                code, after = self.text[mark.start("one") : last], last + 1
        return QueryCandidate(code, CandidateKind.INLINE, "inline", mark.start(), after), after

    def _comments(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        return self._after_comment(mark.start("comment"), mark["comment"])

    def _after_comment(self, at: int, opening: str) -> tuple[QueryCandidate | None, int]:
        """Remember a comment at the beginning of a line: a query may follow."""
        text = self.text
        if opening == "--":
            after = text.find("\n", at) + 1 or len(text)
        else:
            closed = text.find("*/", at) if self._is_commented else -1
            self._is_commented = closed >= 0
            after = closed + 2 if closed >= 0 else at + len(opening)
        first = self._comment[0] if not text[self._comment[1] : at].strip() and self._comment[1] >= 0 else at
        self._comment = first, after
        has_from = kind_of(self.reader.budget.dialect).begins_with_from
        query = _NEXT_QUERY_OR_FROM.match(text, after) if has_from else _NEXT_QUERY.match(text, after)
        if query is None:
            return None, after
        return self._query(first, query.start("sql"))

    def _prose(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int]:
        if mark["quote"]:
            quoted = self._quoted(mark)
            if quoted is not None:
                return quoted
        start = mark.start("sql")
        ends = _EMPHASIS_ENDS[mark["emphasis"]].search(self.text, start) if mark["emphasis"] else None
        if ends is not None and ends[0] == mark["emphasis"]:
            sql = self.text[start : ends.start()].strip()
            return QueryCandidate(sql, CandidateKind.PROSE, "prose", start, ends.end()), ends.end()
        return self._query(start, start)

    def _query(self, first: int, start: int) -> tuple[QueryCandidate | None, int]:
        is_from = is_from_first(self.text, start)
        if is_from and self.reader.failures_of_from >= _MOST_FAILURES_OF_FROM:
            return None, start + len("from")
        # One that begins with FROM has to be parsed: what is too long for that is none.
        limit = min(len(self.text), start + self.reader.budget.left + 1) if is_from else len(self.text)
        stop = max(end(self.text, start, limit, self.reader.budget), start + 1)
        before = self.text[max(0, first - _WINDOW) : first].rpartition(";")[2]
        if self.text[start : start + 1] in "Vv(" and _WRITES.search(before):
            return None, stop  # the rows of an INSERT
        if not _HAS_MORE.match(self.text, start, stop):
            return None, stop
        if is_from:
            sql, budget = self.text[start:stop], self.reader.budget
            if len(sql) > budget.left or not budget.is_statement(sql):
                self.reader.failures_of_from += 1
                return None, start + len("from")
        return QueryCandidate(self.text[first:stop].strip(), CandidateKind.PROSE, "prose", first, stop), stop

    def _quoted(self, mark: re.Match[str]) -> tuple[QueryCandidate | None, int] | None:
        start, quote = mark.start("sql"), _CLOSING.get(mark["quote"], mark["quote"])
        limit = self.text.find("\n\n", start) if len(quote) == 1 else -1
        at, count = start, 0
        while (
            at := self.text.find(quote, at, limit if limit >= 0 else len(self.text))
        ) >= 0 and count < _MOST_QUOTES:
            after = at + len(quote)
            if len(quote) > 1 or (count % 2 == 0 and _BOUNDARY.match(self.text, after)):
                sql = self._undoubled(self.text[start:at].strip(), quote)
                return QueryCandidate(sql, CandidateKind.PROSE, "prose", start, after), after
            at, count = at + 1, count + 1
        return None

    def _undoubled(self, sql: str, quote: str) -> str:
        """Return what a quoted text of YAML stands for, whose quotes are doubled or escaped."""
        if quote == '"' and '\\"' in sql and not self.reader.budget.is_statement(sql):
            return documents.unescape(sql)
        if quote not in {"'", '"'} or quote * 2 not in sql or self.reader.budget.is_statement(sql):
            return sql
        plain = sql.replace(quote * 2, quote)
        return plain if sql.count(quote) == 2 * plain.count(quote) else sql


def _outweighed(found: list[QueryCandidate], one: QueryCandidate) -> bool:
    """True if a key of the same document outweighs this one; one that it outweighs is removed."""
    if one.weight is None or not found or found[-1].weight is None:
        return False
    if one.weight < found[-1].weight:
        return True
    found.pop()
    return False


def _next(text: str, what: str, start: int) -> int:
    found = text.find(what, start)
    return len(text) if found < 0 else found


# Which of several candidates is the answer.

_CORRECTION = re.compile(
    r"\b(?:wait|(?<!common )mistake|oops|incorrect|wrong|correct(?:ion|ed|ing)|fix(?:ed|ing)?|revised?|"
    r"actually|hmm|hold on|not right|fails?|instead of)\b|更正|修正|等等|不对",
    flags=re.IGNORECASE,
)
_ASIDE = re.compile(
    r"\b(?:alternativ\w*|equivalent\w*|verify|double-check|sanity|explanation|breakdown|for example|e\.g\.|"
    r"if you (?:also|instead|only|want|need|prefer|would)|you (?:could|can|may|might) also|optional\w*|"
    r"similar\w*|how it works|would be wrong|do not use|sample (?:output|data)|another way|variant|"
    r"common mistakes?|to (?:test|check|debug)|subquery|inner query|index)\b|例如|或者|也可以",
    flags=re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final|finally|answer|complete|full|combined|corrected|result(?:ing)?|solution|recommended|preferred)\b|最终|答案|"
    r"\b(?:finale?|endgültige|definitiva?)\b",
    flags=re.IGNORECASE,
)
_REJECTED = re.compile(
    r"\b(?:instead of|rather than|replaces?|as opposed to|prefer\w*+ (?:to|over)|"
    r"(?:better|faster|cleaner|simpler|safer) than)[\s`*:]*+"
    r"(?:(?:the|an?|this|that|my|your|using|writing|running|simply|simpler|naive|plain|original|first|previous|"
    r"older?|following|slower|longer|query|version|form|one|statement|sql)[\s`*:]++){0,6}+(?:```\w*+\s*+)?+\Z",
    flags=re.IGNORECASE,
)
_ENGINE = re.compile(
    r"\b(?P<engine>sqlite|mysql|mariadb|postgres|duckdb|oracle|sql server|t-?sql|mssql|bigquery|snowflake)",
    flags=re.IGNORECASE,
)
_LABEL = re.compile(
    r"\b(?:option|candidate|query|version|approach)[ \t]*+(?:\d{1,2}|[A-H])\b", flags=re.IGNORECASE
)
_CHOICE = re.compile(
    r"\b(?:recommend|choose|prefer|pick|go with|best is|best one is|select)\w*+:?[^.\n]{0,40}?"
    r"\b(?P<name>(?:option|candidate|query|version|approach)[ \t]*+(?:\d{1,2}|[A-H]))\b",
    flags=re.IGNORECASE,
)
_WINDOW = 400


def best(
    found: list[QueryCandidate], text: str, budget: ParseBudget, limit: int = sys.maxsize
) -> QueryCandidate:
    """Return the candidate that is the answer; the text from `limit` on does not count.

    One that parses as a statement comes before one that does not, one that is called final or a correction
    before others and one that is called an alternative or an example after them, then the stronger mark,
    then the last.
    """
    if len({one.sql for one in found}) == 1:
        return max(found, key=lambda one: (one.kind, one.start))
    answers = [one for one in found if one.kind is CandidateKind.ANSWER]
    ranked = []
    before = 0
    choice = _CHOICE.search(text, max(one.stop for one in found), limit)
    chosen = choice["name"].lower() if choice else None
    for one in answers or found:
        emphasis = _emphasis(text[max(before, one.start - _WINDOW) : one.start], is_first=before == 0)
        emphasis = min(emphasis, 0) if one.kind <= CandidateKind.INLINE else emphasis
        label = text[max(before, one.start - _WINDOW) : one.start].rstrip().rpartition("\n")[2]
        info = text[one.start : one.start + 20].partition("\n")[0] if one.rule == "block" else ""
        if not _CORRECTION.search(label) and _is_of_another(f"{label} {info}", budget.dialect):
            emphasis = -1
        elif chosen is not None and chosen in {name[0].lower() for name in _LABEL.finditer(label)}:
            emphasis = 2
        before = one.stop
        ranked.append((emphasis, one.kind, one.start, one))
    # The likeliest are parsed first, for the budget's sake.
    ranked.sort(key=lambda each: each[:3], reverse=True)
    for *_, one in ranked:
        if budget.is_statement(one.sql):
            return one
    return ranked[0][-1]


def _is_of_another(label: str, dialect: EngineName) -> bool:
    """True if what a candidate is called names other engines than the answer's."""
    named = {one["engine"].lower().replace("mariadb", "mysql") for one in _ENGINE.finditer(label)}
    return bool(named) and not dialect.replace("mariadb", "mysql").startswith(tuple(named))


def _emphasis(before: str, *, is_first: bool) -> int:
    """Return what the text before a candidate says of it: 1 for the final one, -1 for an aside."""
    line = before.rstrip().rpartition("\n")[2][-160:]
    if _REJECTED.search(before):
        return -1
    if not is_first and _CORRECTION.search(before):
        return 1
    if not is_first and _ASIDE.search(before):
        return -1
    return 1 if _FINAL.search(line) else 0
