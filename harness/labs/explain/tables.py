"""Show execution plans side by side: on a terminal, as Markdown, and as plain values for programs.

Gold's plan is on the left and the prediction's on the right if the terminal is wide enough, else one is
below the other. Signs mark the differences, so that colour never carries information alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.engines import TITLES, dialect_of
from harness.engines.plans import AlignedSteps, Operator, PlanNode, PlanStep, StepMark, numbered, steps_of
from harness.labs.explain.explainer import ExplainedPair
from harness.metrics.work import units
from harness.report.console import new_table, plain, print_table, wide
from harness.report.texts import escaped_markdown, markdown_line
from harness.runs.plans import ExplainedText
from loaders.base.files import one_line

SIGNS: Mapping[StepMark, str] = {StepMark.SAME: "", StepMark.OTHER: "~", StepMark.ALONE: "!"}
"""The sign before a step, by its relation to the other plan."""

LEGEND = "~ the other plan does this differently    ! the other plan has nothing like it"

_NARROWEST = 28
"""Minimum characters for the steps of a plan, to show two side by side."""

_SHOWN = 160
"""Maximum characters of the engine's description of a step."""


_COLUMNS: Mapping[str, Callable[[PlanNode], float | None]] = {
    "est. rows": lambda node: (
        None if node.estimated_rows is None else node.estimated_rows * (node.loops or 1)
    ),
    "rows": lambda node: node.all_rows,
    "loops": lambda node: node.loops,
    "cost": lambda node: node.cost,
}
"""The figures of a step by column head; None if the engine does not report them."""


def print_plans(pairs: Sequence[ExplainedPair], console: Console | None = None) -> None:
    """Print pairs of plans, one pair after the other."""
    console = wide(console)
    for place, pair in enumerate(pairs):
        if place:
            console.print()
        console.print(plain(heading(pair)), style="bold")
        comparison = pair.comparison
        columns = _that_fit(pair, console)
        if comparison is not None and columns is not None:
            print_table(console, _beside(comparison.steps, columns))
        else:
            marks = list(comparison.steps) if comparison else []
            for name, text, without in _sides(pair):
                if text is None:
                    print_table(console, plain(f"{name}: {without}"))
                elif text.plan.root is not None:
                    print_table(console, plain(f"{name}:"))
                    print_table(console, _below(text.plan.root, marks, is_gold=text is pair.gold))
        for line in sayings(pair):
            print_table(console, plain(line))


def heading(pair: ExplainedPair) -> str:
    """Return the heading of a pair."""
    question = f" · question {pair.question}" if pair.question else ""
    name = f" · {pair.name}" if pair.name else ""
    return f"{TITLES[pair.dialect]}{question}{name} · {pair.db_id}"


def sayings(pair: ExplainedPair) -> Iterator[str]:
    """Yield the lines below the plans of a pair: how they compare, errors, counted work."""
    comparison = pair.comparison
    if comparison is not None:
        marks = [each.mark for each in comparison.steps]
        if comparison.is_same:
            yield "The same plan, apart from rows, costs and conditions."
        elif set(marks) == {StepMark.SAME}:
            yield "The same steps in another tree."
        else:
            differing = sum(mark is not StepMark.SAME for mark in marks)
            yield f"Other plans: {differing} of {len(marks)} steps differ.  {LEGEND}"
    for name, text, _ in _sides(pair):
        if text is not None and text.plan.error is not None:
            code = f" ({text.plan.code})" if text.plan.code else ""
            yield f"{name}: {text.plan.error}{code}"
    yield from _work(pair)
    if any(text.plan.root and _tells_no_rows(text.plan.root) for _, text, _ in _sides(pair) if text):
        yield f"{TITLES[pair.dialect]} reports neither estimates nor the rows of single steps."


def _tells_no_rows(root: PlanNode) -> bool:
    return root.operator is Operator.QUERY and all(
        node.estimated_rows is None and (node is root or node.real_rows is None) for node in root.walk()
    )


def _work(pair: ExplainedPair) -> Iterator[str]:
    """Yield the lines about counted work: units, and their counters."""
    for name, text, _ in _sides(pair):
        if text is None:
            continue
        if text.plan.counters is not None:
            counted = ", ".join(f"{key} {count:,}" for key, count in text.plan.counters.items())
            weight = spelled_rows(_units(text))
            yield f"Work, {name[0].lower()}{name[1:]}: {weight} units: {counted or 'nothing'}"
        elif text.plan.uncounted is not None:
            yield f"Work, {name[0].lower()}{name[1:]}: {text.plan.uncounted}"


def _units(text: ExplainedText) -> float | None:
    """Return the counters of a text as one number; None if unknown."""
    return None if text.plan.counters is None else units(dialect_of(text.dialect), text.plan.counters)


def _sides(pair: ExplainedPair) -> list[tuple[str, ExplainedText | None, str | None]]:
    """Return gold and the prediction, or the user's only text, each with the reason if it is missing."""
    gold = ("Gold", pair.gold, pair.without_gold)
    prediction = ("Prediction", pair.prediction, pair.without_prediction)
    sides = [gold, prediction] if pair.gold is not None or pair.without_gold is not None else [prediction]
    return sides if len(sides) > 1 or pair.name else [("Plan", pair.prediction, pair.without_prediction)]


def _columns(*roots: PlanNode) -> list[str]:
    """Return the columns with a value in either plan."""
    nodes = list(chain.from_iterable(root.walk() for root in roots))
    is_repeated = any((node.loops or 1) != 1 for node in nodes)
    return [
        column
        for column in _COLUMNS
        if any(_COLUMNS[column](node) is not None for node in nodes) and (column != "loops" or is_repeated)
    ]


def _that_fit(pair: ExplainedPair, console: Console) -> list[str] | None:
    """Return the columns with which two plans fit side by side, possibly without loops, or None."""
    roots = _roots(pair)
    if len(roots) < 2:  # noqa: PLR2004 - a single plan has no counterpart
        return None
    columns = _columns(*roots)
    for some in (columns, [column for column in columns if column != "loops"]):
        figures = sum(_width(column, roots) + 2 for column in some)
        if 2 * (figures + _NARROWEST + 5) <= console.width:
            return some
    return None


def _roots(pair: ExplainedPair) -> list[PlanNode]:
    return [text.plan.root for text in (pair.gold, pair.prediction) if text and text.plan.root]


def _width(column: str, roots: Sequence[PlanNode]) -> int:
    nodes = chain.from_iterable(root.walk() for root in roots)
    return max(len(column), *(len(spelled_rows(_COLUMNS[column](node))) for node in nodes))


def _beside(steps: Sequence[AlignedSteps], columns: Sequence[str]) -> Table:
    """Return both plans in one table, with aligned steps."""
    table = new_table("")
    for name in ("Gold", "Prediction"):
        table.add_column("", no_wrap=True)
        table.add_column(name, overflow="fold", ratio=1, min_width=_NARROWEST - 4)
        for column in columns:
            table.add_column(column, justify="right", no_wrap=True)
    for each in steps:
        cells: list[RenderableType] = []
        for step in (each.gold, each.prediction):
            cells += _cells(step, each.mark, columns)
        table.add_row(*cells)
    return table


def _below(root: PlanNode, steps: Sequence[AlignedSteps], *, is_gold: bool) -> Table:
    """Return one plan as a table, with the marks of the alignment."""
    table = new_table("")
    table.show_header = bool(columns := _columns(root))
    table.add_column("", no_wrap=True)
    table.add_column("step", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    own = [(each.gold if is_gold else each.prediction, each.mark) for each in steps]
    for step, mark in own or [(step, StepMark.SAME) for step in steps_of(root)]:
        if step is not None:
            table.add_row(*_cells(step, mark, columns))
    return table


def _cells(step: PlanStep | None, mark: StepMark, columns: Sequence[str]) -> list[RenderableType]:
    if step is None:
        return [Text("") for _ in range(2 + len(columns))]
    style = "" if mark is StepMark.SAME else "bold"
    words = Text(one_line(step.node.label), style=style)
    if condition := step.node.condition:
        words.append(f"  {one_line(_cut(condition))}", style="dim")
    figures = [Text(spelled_rows(_COLUMNS[column](step.node))) for column in columns]
    # Indent folded lines below their step.
    return [Text(SIGNS[mark], style=style), Padding(words, (0, 0, 0, 2 * step.depth)), *figures]


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def spelled_rows(value: float | None) -> str:
    """Return rows, loops or a cost in about ten characters at most; empty if unknown."""
    if value is None:
        return ""
    if value >= 1e9:  # noqa: PLR2004 - ten digits and more are read as a power
        return f"{value:.3g}"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"  # noqa: PLR2004


def plans_markdown(pairs: Sequence[ExplainedPair]) -> str:
    """Return pairs of plans as Markdown for GitHub."""
    return "\n".join(chain.from_iterable(map(_markdown, pairs)))


def _markdown(pair: ExplainedPair) -> Iterator[str]:
    yield f"## {escaped_markdown(heading(pair))}"
    yield ""
    comparison = pair.comparison
    if comparison is not None:
        columns = _columns(*_roots(pair))
        yield markdown_line(["", "Gold", *columns, "", "Prediction", *columns])
        yield "|" + "|".join(["---", "---", *["--:"] * len(columns)] * 2) + "|"
        for each in comparison.steps:
            cells: list[str] = []
            for step in (each.gold, each.prediction):
                cells += _markdown_cells(step, each.mark, columns)
            yield markdown_line(cells)
        yield ""
    else:
        for name, text, without in _sides(pair):
            yield f"### {name}"
            yield ""
            root = text.plan.root if text else None
            if root is not None:
                columns = _columns(root)
                yield markdown_line(["", "step", *columns])
                yield "|" + "|".join(["---", "---", *["--:"] * len(columns)]) + "|"
                for step in steps_of(root):
                    yield markdown_line(_markdown_cells(step, StepMark.SAME, columns))
                yield ""
            elif text is None:
                yield f"{escaped_markdown(without or '')}\n"
    yield from (f"- {escaped_markdown(line)}" for line in sayings(pair))
    yield ""


def _markdown_cells(step: PlanStep | None, mark: StepMark, columns: Sequence[str]) -> list[str]:
    if step is None:
        return [""] * (2 + len(columns))
    words = f"{'&emsp;' * step.depth}{escaped_markdown(step.node.label)}"
    if step.node.condition:
        words += f" {escaped_markdown(_cut(step.node.condition))}"
    figures = [spelled_rows(_COLUMNS[column](step.node)) for column in columns]
    return [escaped_markdown(SIGNS[mark]), words, *figures]


def plans_json(pairs: Sequence[ExplainedPair]) -> dict[str, Any]:
    """Return pairs of plans as plain values: `schema_version` 1.

    `steps` are the aligned steps of both plans, each as its number in reading order, parents first; null if
    only the other plan has one.
    """
    return {"schema_version": 1, "pairs": [_pair_json(pair) for pair in pairs]}


def _pair_json(pair: ExplainedPair) -> dict[str, Any]:
    record: dict[str, Any] = {"dialect": pair.dialect, "db_id": pair.db_id}
    record |= {"question": pair.question or None, "predictor": pair.name or None}
    for name, text, without in (
        ("gold", pair.gold, pair.without_gold),
        ("prediction", pair.prediction, pair.without_prediction),
    ):
        record[name] = _text_json(text) if text else {"sql": None, "reason": without}
    comparison = pair.comparison
    record["comparison"] = comparison and {
        "is_same": comparison.is_same,
        "steps": [
            {"gold": gold, "prediction": prediction, "mark": mark}
            for gold, prediction, mark in numbered(comparison.steps)
        ],
    }
    return record


def _text_json(text: ExplainedText) -> dict[str, Any]:
    """Return a text as in the run folder, with the weight of its counters (`units`), if known."""
    weight = _units(text)
    return text.to_json() | ({} if weight is None else {"units": weight})
