"""The page of a study: its tables with their charts, in the manner of a description; needs no script."""

from collections.abc import Sequence
from pathlib import Path

from harness.efficiency.study.part import Bar, BarChart
from harness.report.html.descriptions import Chart, bar_chart, write_tables_html
from harness.report.table_model import Document


def write_study_html(
    document: Document, charts: Sequence[Sequence[BarChart]], title: str, path: Path
) -> None:
    """Write the page, whole or not at all.

    Args:
        document: the tables.
        charts: those of each table.
        title: heads the page.
        path: the file.

    Raises:
        BadInput: it cannot be written.
    """
    write_tables_html(document, title, path, [[_drawn(one) for one in some] for some in charts])


def _drawn(chart: BarChart) -> Chart:
    return bar_chart(
        chart.title,
        [(bar.name, bar.value, bar.figure, _interval(bar)) for bar in chart.bars],
        chart.reference,
    )


def _interval(bar: Bar) -> tuple[float, float] | None:
    return None if bar.low is None or bar.high is None else (bar.low, bar.high)
