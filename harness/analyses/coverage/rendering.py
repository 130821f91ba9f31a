"""Coverage as tables: on the console, as Markdown and as JSON; computed from the answers alone."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from dialects.enums import Dialect
from harness.analyses.coverage import CoverageAnswer, Reason
from harness.data.questions import levels_of
from harness.engines import TITLES
from harness.report.console import print_line, print_table, wide
from loaders.base.files import write_folder_of

SCHEMA_VERSION = 1
"""Version of `coverage.json`; docs/coverage.md describes it."""

MARKDOWN = "coverage.md"
JSON = "coverage.json"

_HEADS = ("questions", "run", "same set", "same bag", "same order", "tie", "covered", "%")


@dataclass(frozen=True)
class Totals:
    """The counts of one engine."""

    dialect: Dialect
    questions: int
    runs: int
    same_set: int
    same_bag: int
    ordered: int
    """Questions that run and whose gold orders its rows."""
    same_order: int
    covered: int
    reasons: Mapping[Reason, int]
    by_difficulty: Mapping[str, float | None]
    """Percent covered; None where there is no question of that level."""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of every table, without the engine."""
        levels = ("-" if share is None else f"{share:.1f}" for share in self.by_difficulty.values())
        figures = (
            self.questions, self.runs, self.same_set, self.same_bag, f"{self.same_order} of {self.ordered}",
            self.reasons.get(Reason.TIE, 0), self.covered, _percent(self.covered, self.questions),
        )  # fmt: skip
        return (*map(str, figures), *levels)

    def to_json(self) -> dict[str, Any]:
        """One entry of `totals` in `coverage.json`."""
        return {
            "dialect": self.dialect,
            "questions": self.questions,
            "runs": self.runs,
            "same_set": self.same_set,
            "same_bag": self.same_bag,
            "ordered": self.ordered,
            "same_order": self.same_order,
            "covered": self.covered,
            "reasons": {str(reason): count for reason, count in self.reasons.items()},
            "covered_percent_by_difficulty": self.by_difficulty,
        }


def totals(answers: Sequence[CoverageAnswer]) -> list[Totals]:
    """The counts of each engine that there are answers of."""
    levels = levels_of(answer.difficulty for answer in answers)
    return [
        _count(dialect, [answer for answer in answers if answer.dialect == dialect], levels)
        for dialect in Dialect
        if any(answer.dialect == dialect for answer in answers)
    ]


def print_coverage(title: str, answers: Sequence[CoverageAnswer], console: Console | None = None) -> None:
    """Print each question that is not covered, then the counts."""
    console = wide(console)
    for answer in answers:
        if not answer.covered:
            print_line(console, _line(answer))
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("engine")
    for head in (*_HEADS, *levels_of(answer.difficulty for answer in answers)):
        table.add_column(head.replace(" ", "\n"), justify="right")
    counted = totals(answers)
    for one in counted:
        table.add_row(TITLES[one.dialect], *one.cells)
    print_table(console, table)
    for one in counted:
        print_line(console, f"{TITLES[one.dialect]}: {_reasons(one)}")


def markdown(answers: Sequence[CoverageAnswer]) -> str:
    """The counts and what is not SQLite's answer, with errors and rows, as Markdown."""
    levels = levels_of(answer.difficulty for answer in answers)
    lines = [
        "| engine | " + " | ".join((*_HEADS, *levels)) + " |",
        "|---|" + "--:|" * (8 + len(levels)),
    ]
    counted = totals(answers)
    lines += [f"| {TITLES[one.dialect]} | " + " | ".join(one.cells) + " |" for one in counted]
    lines += ["", *(f"{TITLES[one.dialect]}: {_reasons(one)}." for one in counted)]
    shown = [answer for answer in answers if answer.reason is not None]
    if shown:
        lines += ["", "| engine | question | database | reason | detail |", "|---" * 5 + "|"]
    for answer in sorted(shown, key=lambda answer: list(Dialect).index(answer.dialect)):
        detail = _detail(answer).replace("|", "\\|")
        cells = [TITLES[answer.dialect], answer.question, answer.db_id, f"`{answer.reason}`", detail]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write_folder(
    parent: Path, title: str, manifest: Mapping[str, Any], answers: Sequence[CoverageAnswer]
) -> Path:
    """Write `coverage.md` and `coverage.json` into a new folder below `parent`, both or nothing.

    Raises:
        BadInput: the folder can't be written.
    """
    content = {
        "schema_version": SCHEMA_VERSION,
        **manifest,
        "totals": [one.to_json() for one in totals(answers)],
        "answers": [answer.to_json() for answer in answers],
    }
    files = {
        MARKDOWN: f"# {title}\n\n{markdown(answers)}",
        JSON: json.dumps(content, indent=2, ensure_ascii=False) + "\n",
    }
    return write_folder_of(parent, "coverage", files)


def _count(dialect: Dialect, answers: Sequence[CoverageAnswer], levels: Sequence[str]) -> Totals:
    return Totals(
        dialect=dialect,
        questions=len(answers),
        runs=sum(answer.runs for answer in answers),
        same_set=sum(answer.same_set for answer in answers),
        same_bag=sum(answer.same_bag for answer in answers),
        ordered=sum(answer.same_order is not None for answer in answers),
        same_order=sum(answer.same_order is True for answer in answers),
        covered=sum(answer.covered for answer in answers),
        reasons=Counter(answer.reason for answer in answers if answer.reason is not None),
        by_difficulty={
            level: _share([answer for answer in answers if answer.difficulty == level]) for level in levels
        },
    )


def _share(answers: Sequence[CoverageAnswer]) -> float | None:
    return 100 * sum(answer.covered for answer in answers) / len(answers) if answers else None


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _reasons(counted: Totals) -> str:
    parts = [f"{counted.reasons[reason]} {reason}" for reason in Reason if counted.reasons.get(reason)]
    return ", ".join(parts) or "every answer is SQLite's"


def _line(answer: CoverageAnswer) -> str:
    where = f"{TITLES[answer.dialect]} {answer.question} ({answer.db_id})"
    return f"{where}: {answer.reason} {_detail(answer)}".rstrip()


def _detail(answer: CoverageAnswer) -> str:
    parts = [" ".join(answer.detail.split())] if answer.detail else list(answer.warnings)
    parts += [f"only SQLite: {row}" for row in answer.only_sqlite]
    parts += [f"only {TITLES[answer.dialect]}: {row}" for row in answer.only_engine]
    return "; ".join(parts)
