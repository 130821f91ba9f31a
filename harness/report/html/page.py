"""One file that holds everything and asks for nothing: no network, no other script, no markup from data.

Data never stands in the page as text that a browser would read: it is JSON, gzipped, in base64. The policy of
the page names its one script and its one style sheet by their digests.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from dialects.errors import BadInput
from harness.report.table_model import printable
from loaders.base.files import replace

_PLACE = files("harness.report.html")


@dataclass(frozen=True)
class PageTable:
    """What is shown where no script runs: the totals."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def write_page(
    path: Path, title: str, table: PageTable, core: Mapping[str, Any], details: Mapping[str, Any]
) -> None:
    """Write the page, whole or not at all.

    Args:
        path: the file.
        title: what the window is called.
        table: the totals, for browsers that cannot show the rest.
        core: what the first view needs, as plain values.
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
        template: the name of the template beside this module; it is given `style` and `policy`, too.
        content: what the template shows; texts are printable.

    Raises:
        BadInput: the file cannot be written.
    """
    style = _bundled("report.css")
    own = {"style": Markup(style), "policy": policy(style)}  # noqa: S704 - the project's own
    _replace(path, _template(template).render(**own, **content))


def _replace(path: Path, text: str) -> None:
    try:
        replace(path, text)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); choose another file") from error


@cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string((_PLACE / name).read_text(encoding="utf-8"))


@cache
def _bundled(name: str) -> str:
    return (_PLACE / "bundle" / name).read_text(encoding="utf-8").strip()


def policy(style: str, script: str = "") -> str:
    """The policy of a page that asks for nothing and has one style sheet and at most one script."""
    scripts = f"script-src {_digest(script)}; " if script else ""
    return (
        f"default-src 'none'; {scripts}style-src {_digest(style)}; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def packed(content: Mapping[str, Any]) -> str:
    """Data as they stand in a page: JSON, gzipped, in base64."""
    # All ASCII, so that half a surrogate pair stays what it is; equal content gives equal bytes.
    try:
        text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        # Python reads NaN in JSON, browsers do not: what is no number is nothing.
        read = json.loads(json.dumps(content), parse_constant=lambda _: None)
        text = json.dumps(read, separators=(",", ":"))
    return b64encode(gzip.compress(text.encode("ascii"), compresslevel=6, mtime=0)).decode()
