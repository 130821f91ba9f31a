"""A board as tables: on the console and as Markdown."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialects.enums import Dialect
from harness.engines import TITLES
from harness.labs.conformance.comparison import OURS, Line, QueryVerdict, SuiteWitness, without_names
from harness.report.console import print_grids, print_line, wide
from harness.report.table_model import Cell, CellKind, TableModel, columns, row, table
from harness.report.texts import markdown_table

# Counts the lines of a run: verdicts by translator and engine, and by reason what was not compared.


@dataclass
class Counts:
    """The results of the queries by one translator on one engine."""

    verdicts: Counter[QueryVerdict] = field(default_factory=Counter)
    reasons: dict[QueryVerdict, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """By verdict, the explanations without names and numbers."""
    examples: dict[tuple[QueryVerdict, str], list[tuple[str, str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By fault and reason: key, query and explanation."""

    def to_json(self) -> dict[str, Any]:
        """Return the counts, and the reasons of what has some."""
        return {
            "verdicts": {verdict: self.verdicts[verdict] for verdict in QueryVerdict},
            "reasons": {verdict: dict(found.most_common()) for verdict, found in self.reasons.items()},
        }


@dataclass
class Tally:
    """The counts of a run."""

    queries: int = 0
    """All selected queries, whatever their results."""
    compared: int = 0
    left: Counter[str] = field(default_factory=Counter)
    """Queries that nothing was compared of, by reason."""
    statements: Counter[str] = field(default_factory=Counter)
    witness: Counter[SuiteWitness] = field(default_factory=Counter)
    disagreements: list[str] = field(default_factory=list)
    """Keys of queries whose rows in the suite are not SQLite's, and labels with several results."""
    counts: dict[tuple[str, Dialect], Counts] = field(default_factory=dict)

    @property
    def faults(self) -> int:
        """How often the project's own translator broke its promise."""
        return sum(
            count
            for (translator, _), found in self.counts.items()
            if translator == OURS
            for verdict, count in found.verdicts.items()
            if verdict.is_fault
        )

    def to_json(self) -> dict[str, Any]:
        """Return `report.json`, without the request of the run."""
        return {
            "queries": self.queries,
            "compared": self.compared,
            "left": dict(self.left.most_common()),
            "statements": dict(self.statements.most_common()),
            "witness": {each: self.witness[each] for each in SuiteWitness},
            "disagreements": self.disagreements,
            "counts": [
                {"translator": translator, "engine": engine, **found.to_json()}
                for (translator, engine), found in self.counts.items()
            ],
        }


_MOST_EXAMPLES = 3
_WITH_REASONS = frozenset(QueryVerdict) - {QueryVerdict.SAME, QueryVerdict.SLOW}


def count(lines: Iterable[Line]) -> Tally:
    """Count the lines of a run."""
    board, labels = Tally(), defaultdict[tuple[str, str], set[str]](set)
    for line in lines:
        if "script" in line:
            board.statements.update(line["statements"])
            continue
        board.queries += 1
        if "left" in line:
            board.left[line["left"]] += 1
            continue
        board.compared += 1
        witness = SuiteWitness(line["witness"])
        board.witness[witness] += 1
        if witness is SuiteWitness.DIFFERS:
            board.disagreements.append(line["query"])
        if "label" in line:
            label, rows = line["label"]
            labels[line["query"].rpartition(":")[0], label].add(rows)
        for answer in line["answers"]:
            key = answer["translator"], Dialect(answer["engine"])
            _add(board.counts.setdefault(key, Counts()), line, answer)
    board.disagreements += [
        f"{script}: label {label}" for (script, label), rows in labels.items() if len(rows) > 1
    ]
    return board


def _add(counts: Counts, line: Line, answer: Mapping[str, Any]) -> None:
    verdict, said = QueryVerdict(answer["verdict"]), answer.get("detail", "")
    counts.verdicts[verdict] += 1
    if verdict not in _WITH_REASONS:
        return
    # What differs, differs in its rows: the kind of difference is the reason.
    reason = said.partition(":")[0] if verdict is QueryVerdict.SILENT else without_names(said)
    counts.reasons[verdict][reason] += 1
    examples = counts.examples[verdict, reason]
    if verdict is QueryVerdict.SILENT or (verdict.is_fault and len(examples) < _MOST_EXAMPLES):
        examples.append((line["query"], line["sql"], said))


_MOST_SHOWN = 8
_MOST_REASONS = 60


def grid(title: str, board: Tally) -> TableModel:
    """Return the verdicts as a table: a row for each translator and engine."""
    heads = columns("engine", *((each.replace("_", " "), each, CellKind.SHARE) for each in QueryVerdict))
    rows = [
        row(
            [translator, TITLES[engine]],
            [Cell(counts.verdicts[each], questions=counts.verdicts.total()) for each in QueryVerdict],
            translator,
            dialect=engine,
        )
        for (translator, engine), counts in board.counts.items()
    ]
    return table(title, ["translator", "engine"], heads, rows)


def print_board(title: str, board: Tally) -> None:
    """Print the counts, then the reasons for most of them."""
    console = wide()
    print_grids([grid(title, board)], console)
    for line in (*_about(board), *_left(board.left, _MOST_SHOWN)):
        print_line(console, line)
    for (translator, engine), counts in board.counts.items():
        for verdict in (
            QueryVerdict.UNTRANSLATABLE,
            QueryVerdict.SILENT,
            QueryVerdict.ERROR,
            QueryVerdict.CRASH,
        ):
            for reason, number in counts.reasons[verdict].most_common(3):
                print_line(console, f"{translator}, {TITLES[engine]}, {verdict}: {number:,} x {reason}")


def markdown(title: str, board: Tally) -> str:
    """Return the whole report."""
    lines = [f"# {title}", "", *markdown_table(grid("", board)), "", *_about(board)]
    lines += _section("Not compared", board.left)
    lines += _section("Statements", board.statements)
    if board.disagreements:
        lines += ["", "## The suite says otherwise than SQLite", ""]
        lines += [f"- {each}" for each in board.disagreements]
    for (translator, engine), counts in board.counts.items():
        for verdict in QueryVerdict:
            found = counts.reasons.get(verdict, Counter())
            lines += _section(f"{translator}, {TITLES[engine]}: {verdict.replace('_', ' ')}", found)
            for reason, _ in found.most_common():
                for key, sql, said in counts.examples.get((verdict, reason), ()):
                    # Indented: a query may hold backquotes.
                    lines += [
                        "",
                        f"{key}: {_one_line(said)}",
                        "",
                        *(f"    {line}" for line in sql.splitlines()),
                    ]
    return "\n".join(lines) + "\n"


def _about(board: Tally) -> list[str]:
    witness = board.witness
    ran = f"{board.statements['run']:,} of {board.statements.total():,} statements run"
    lines = [f"{board.queries:,} queries, {board.compared:,} of them compared; {ran}."]
    if witness[SuiteWitness.AGREES] or board.disagreements:
        lines.append(
            f"The suite's own rows: {witness[SuiteWitness.AGREES]:,} are SQLite's, "
            f"{witness[SuiteWitness.DIFFERS]:,} are not; {witness[SuiteWitness.NONE]:,} queries have none."
        )
    return lines


def _left(left: Counter[str], most: int) -> Iterator[str]:
    for reason, number in left.most_common(most):
        yield f"not compared: {number:,} x {reason}"
    rest = left.most_common()[most:]
    if rest:
        yield f"not compared: {sum(number for _, number in rest):,} for {len(rest)} other reasons"


def _section(head: str, reasons: Counter[str]) -> list[str]:
    if not reasons:
        return []
    lines = ["", f"## {head}", ""]
    lines += [
        f"- {number:,} x {_one_line(reason) or '-'}" for reason, number in reasons.most_common(_MOST_REASONS)
    ]
    rest = reasons.most_common()[_MOST_REASONS:]
    return [*lines, f"- {sum(number for _, number in rest):,} of {len(rest)} other kinds"] if rest else lines


def _one_line(text: str) -> str:
    return " ".join(text.split())
