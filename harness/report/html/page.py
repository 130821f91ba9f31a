"""Write self-contained HTML files: no network, no other script, no markup from data.

The page of a run or a comparison has a program (`write_page`). Its data are never text that a browser would
parse, but JSON, gzipped, in base64. A page of tables (`write_tables_html`) needs no script: this module draws
the bars, each with its name and its figure as text. The content security policy of a page allows its one
style sheet and its script by their digests.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from dialects.errors import BadInput
from harness.report.table_model import Cell, CellKind, Document, TableModel, heads, printable, texts
from loaders.base.files import ascii_json, replace

_PLACE = files("harness.report.html")


@dataclass(frozen=True)
class PageTable:
    """The totals, shown if no script runs."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def write_page(
    path: Path, title: str, table: PageTable, core: Mapping[str, Any], details: Mapping[str, Any]
) -> None:
    """Write the page, whole or not at all.

    Args:
        path: the file.
        title: the title of the window.
        table: the totals, for browsers that cannot show the rest.
        core: the data of the first view, as plain values.
        details: all texts and rows, as plain values.

    Raises:
        BadInput: the file cannot be written.
    """
    style, script = _bundled("report.css"), _bundled("report.js")
    text = _template("page.html.jinja").render(
        title=printable(title),
        table=PageTable(table.heads, [[printable(cell) for cell in row] for row in table.rows]),
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704 - the project's own
        script=Markup(script),  # noqa: S704 - the project's own
        core=packed(core),
        details=packed(details),
    )
    _replace(path, text)


def write_static(path: Path, template: str, **content: Any) -> None:
    """Write a page without a script, in the same style, whole or not at all.

    Args:
        path: the file.
        template: the name of a template in this package; it gets `style` and `policy`, too.
        content: the variables of the template; texts must be printable.

    Raises:
        BadInput: the file cannot be written.
    """
    style = _bundled("report.css")
    own = {"style": Markup(style), "policy": policy(style)}  # noqa: S704 - the project's own
    _replace(path, _template(template).render(**own, **content))


def own_page(package: str, **content: Any) -> str:
    """Render the page of a package: its `page.html.jinja` with its `page.css` and `page.js`.

    Args:
        package: the package with the three files.
        content: the variables of the template, besides `style`, `script` and `policy`.
    """
    style, script, template = (
        (files(package) / name).read_text(encoding="utf-8").strip()
        for name in ("page.css", "page.js", "page.html.jinja")
    )
    own = {"style": Markup(style), "script": Markup(script), "policy": policy(style, script)}  # noqa: S704 - the project's own
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(**own, **content)


def _replace(path: Path, text: str) -> None:
    try:
        replace(path, text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); choose another file") from error


@cache
def _template(name: str) -> jinja2.Template:
    loader = jinja2.FunctionLoader(lambda included: (_PLACE / included).read_text(encoding="utf-8"))
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.StrictUndefined).get_template(
        name
    )


@cache
def _bundled(name: str) -> str:
    return (_PLACE / "bundle" / name).read_text(encoding="utf-8").strip()


def policy(style: str, script: str = "") -> str:
    """Return the policy of a page that loads nothing and has one style sheet and at most one script."""
    scripts = f"script-src {_digest(script)}; " if script else ""
    return (
        f"default-src 'none'; {scripts}style-src {_digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def packed(content: Mapping[str, Any]) -> str:
    """Return data as embedded in a page: JSON, gzipped, in base64."""
    # ASCII only, to preserve lone surrogates; equal content gives equal bytes.
    try:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # Python accepts NaN in JSON, browsers do not: replace it with null.
        read = json.loads(json.dumps(content), parse_constant=lambda _: None)
        text = ascii_json(read, is_compact=True)
    return b64encode(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0)).decode()


def embedded(content: Any) -> Markup:
    """Return data as text for a page: JSON without any character of markup."""
    text = ascii_json(content, is_compact=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - without a character of markup


# Tables, and bars for figures that are shares or means.

_LEFT, _ROOM, _FIGURE = 190, 300, 70
"""Pixels for the names, the longest bar and the figure after it."""
_LINE = 21
_LONGEST = 26
"""Maximum characters of a name; the title of its bar has all of it."""
MOST_BARS = 30
"""Maximum number of bars with readable names; the table has them all."""


@dataclass(frozen=True)
class Bar:
    """One bar: its position, and its texts."""

    name: str
    short: str
    figure: str
    top: int
    width: float
    ends: tuple[float, float] | None = None
    """Start and end of its interval, from the left of the bars."""


@dataclass(frozen=True)
class Chart:
    """Bars of one column of a table."""

    title: str
    bars: tuple[Bar, ...]
    left: int = _LEFT
    width: int = _LEFT + _ROOM + _FIGURE
    reference: float | None = None
    """Position of the reference line, from the left of the bars."""

    @property
    def height(self) -> int:
        """Height of all bars."""
        return _LINE * len(self.bars)


@dataclass(frozen=True)
class PageSection:
    """One table, with its charts."""

    title: str
    charts: tuple[Chart, ...]
    over: tuple[tuple[str, int], ...]
    labels: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    notes: tuple[str, ...]


def write_tables_html(
    document: Document, title: str, path: Path, charts: Sequence[Sequence[Chart]] | None = None
) -> None:
    """Write tables as one file that needs no script, with charts.

    Args:
        document: the tables.
        title: the heading of the page.
        path: the file.
        charts: more charts for each table, besides the bars of its shares and means; None for none.

    Raises:
        BadInput: the file cannot be written.
    """
    more: Sequence[Sequence[Chart]] = charts or [()] * len(document.grids)
    parts = [section(grid, drawn) for grid, drawn in zip(document.grids, more, strict=True)]
    facts = list(map(printable, document.facts))
    write_static(path, "description.html.jinja", title=printable(title), facts=facts, parts=parts)


def section(grid: TableModel, more: Sequence[Chart] = ()) -> PageSection:
    """Return a table as a section of a page, with these charts, or bars of its shares and means."""
    over = tuple((printable(group.head), len(group.columns)) for group in grid.groups)
    return PageSection(
        title=grid.title,
        charts=(*more, *(() if more else _charts(grid))),
        over=over if _is_grouped(grid) else (),
        labels=grid.labels,
        heads=tuple(head for column in grid.columns for head in heads(column)),
        rows=tuple((tuple(map(printable, row.labels)), tuple(texts(grid, row))) for row in grid.rows),
        notes=tuple(map(printable, grid.notes)),
    )


def _charts(grid: TableModel) -> Iterator[Chart]:
    """Yield charts of shares and means, one per column, or per row if the columns are parts of a whole."""
    names = [column.head for column in grid.columns]
    if len({column.metric for column in grid.columns}) == 1 and len(names) > 1:
        for row in grid.rows:
            title = f"{printable(row.labels[0])}: {grid.title}"
            yield _chart(title, names, row.cells, list(texts(grid, row)))
        return
    at = 0
    for group in grid.groups:
        for column in group.columns:
            if column.kind is CellKind.PERCENT and 1 < len(grid.rows) <= MOST_BARS:
                rows = [row for row in grid.rows if row.cells[at] is not None]
                figures = [list(texts(grid, row))[at] for row in rows]
                names = [", ".join(filter(None, row.labels[:2])) for row in rows]
                whose = f"{printable(group.head)}: " if group.head else ""
                title = f"{whose}{grid.title}, {column.head}"
                yield _chart(title, names, [row.cells[at] for row in rows], figures)
            at += 1


def _is_grouped(grid: TableModel) -> bool:
    return any(group.head for group in grid.groups)


def _chart(title: str, names: Sequence[str], cells: Sequence[Cell | None], figures: Sequence[str]) -> Chart:
    values = [(cell.value if cell is not None else None) or 0.0 for cell in cells]
    return bar_chart(
        title,
        [(name, value, figure, None) for name, value, figure in zip(names, values, figures, strict=True)],
    )


def bar_chart(
    title: str,
    rows: Sequence[tuple[str, float, str, tuple[float, float] | None]],
    reference: float | None = None,
) -> Chart:
    """Return a chart of bars on one axis that starts at 0.

    Args:
        title: the title of the chart.
        rows: for each bar its name, its value, the printed value, and its interval or None.
        reference: the value of a reference line.
    """
    ends = [end for _, _, _, interval in rows for end in interval or ()]
    most = max((*(value for _, value, _, _ in rows), *ends, reference or 0.0), default=0.0) or 1.0

    def reach(value: float) -> float:
        return round(_ROOM * max(value, 0.0) / most, 1)

    bars = []
    for number, (name, value, figure, interval) in enumerate(rows):
        whole = printable(name)
        short = whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
        drawn = None if interval is None else (reach(interval[0]), reach(interval[1]))
        bars.append(Bar(whole, short, figure, number * _LINE + 3, reach(value), drawn))
    return Chart(title, tuple(bars), reference=None if reference is None else reach(reference))
