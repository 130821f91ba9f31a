"""A board as tables: on the console and as Markdown."""

from collections import Counter
from collections.abc import Iterator

from rich.console import Console

from harness.conformance.checking import Verdict
from harness.conformance.counting import Board
from harness.conformance.witness import Witness
from harness.report.tables import NAMES, new_table, plain, print_line, print_table, wide

_MOST_SHOWN = 8
_MOST_REASONS = 60

HEADS = tuple(verdict.replace("_", " ") for verdict in Verdict)


def cells(board: Board) -> Iterator[tuple[str, ...]]:
    """A row for each translator and engine: both, and the verdicts."""
    for (translator, engine), counts in board.counts.items():
        shown = (
            f"{counts.verdicts[verdict]:,}"
            + (f" ({counts.share(verdict):.2f} %)" if counts.verdicts[verdict] else "")
            for verdict in Verdict
        )
        yield translator, NAMES[engine], *shown


def print_board(title: str, board: Board, console: Console | None = None) -> None:
    """Print the counts, then the reasons that stand behind most of them."""
    console = wide(console)
    table = new_table(title)
    for head in ("translator", "engine"):
        table.add_column(head)
    for head in HEADS:
        table.add_column(head.replace(" ", "\n"), justify="right")
    for row in cells(board):
        table.add_row(*map(plain, row))
    print_table(console, table)
    for line in (*_about(board), *_left(board.left, _MOST_SHOWN)):
        print_line(console, line)
    for (translator, engine), counts in board.counts.items():
        for verdict in (Verdict.UNTRANSLATABLE, Verdict.SILENT, Verdict.ERROR, Verdict.CRASH):
            for reason, number in counts.reasons[verdict].most_common(3):
                name = f"{translator}, {NAMES[engine]}, {verdict}"
                print_line(console, f"{name}: {number:,} x {reason}")


def markdown(title: str, board: Board) -> str:
    """The whole report."""
    lines = [f"# {title}", "", *table(board), "", *_about(board)]
    lines += _section("Not compared", board.left)
    lines += _section("Statements", board.statements)
    if board.disagreements:
        lines += [
            "",
            "## The suite says otherwise than SQLite",
            "",
            *(f"- {each}" for each in board.disagreements),
        ]
    for (translator, engine), counts in board.counts.items():
        for verdict in Verdict:
            found = counts.reasons.get(verdict)
            if not found:
                continue
            lines += _section(f"{translator}, {NAMES[engine]}: {verdict.replace('_', ' ')}", found)
            for reason, _ in found.most_common():
                for key, sql, said in counts.examples.get((verdict, reason), ()):
                    lines += ["", f"{key}: {_one_line(said)}", "", *_quoted(sql)]
    return "\n".join(lines) + "\n"


def table(board: Board) -> list[str]:
    """The counts as a table of Markdown."""
    heads = ("translator", "engine", *HEADS)
    lines = ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * len(HEADS)]
    return lines + ["| " + " | ".join(row) + " |" for row in cells(board)]


def _about(board: Board) -> list[str]:
    witness = board.witness
    ran = f"{board.statements['run']:,} of {board.statements.total():,} statements run"
    lines = [f"{board.queries:,} queries, {board.compared:,} of them compared; {ran}."]
    if witness[Witness.AGREES] or board.disagreements:
        lines.append(
            f"The suite's own rows: {witness[Witness.AGREES]:,} are SQLite's, "
            f"{witness[Witness.DIFFERS]:,} are not; {witness[Witness.NONE]:,} queries have none."
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


def _quoted(sql: str) -> list[str]:
    # As an indented block: a query may hold backquotes.
    return [f"    {line}" for line in sql.splitlines()]
