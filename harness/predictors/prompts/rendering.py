"""Templates of prompts as files: the project's own, or a user's with the same names before them.

A fault in a template is told with its file and line: one of syntax, and a name that there is none of, before
anything is asked.
"""

import hashlib
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from dialects.errors import BadInput
from harness.engines import kinds
from harness.engines.base import ColumnText, TableText

_OWN = Path(__file__).with_name("templates")
_SUFFIX = ".j2"

_ASKED = frozenset({"dialect", "version", "question", "evidence"})
NAMES: Mapping[str, frozenset[str]] = {
    "schema.j2": frozenset({"dialect", "tables"}),
    "columns.j2": frozenset({"dialect", "tables"}),
    "example_sqlite.j2": frozenset({"knowledge"}),
    "example_mysql.j2": frozenset({"knowledge"}),
    "example_postgresql.j2": frozenset({"knowledge"}),
    "direct.j2": _ASKED | {"schema", "chain_of_thought", "example"},
    "ta_sql_linking.j2": _ASKED | {"schema"},
    "ta_sql_synthesis.j2": _ASKED | {"schema"},
    "ta_sql_sql.j2": _ASKED | {"schema", "representation"},
    "correction.j2": frozenset({"dialect", "error"}),
}
"""The templates, each with the names that it may use."""


@dataclass(frozen=True)
class Templates:
    """Templates that have been read; `digest` changes with any of their texts."""

    digest: str
    _environment: jinja2.Environment

    def render(self, name: str, **values: object) -> str:
        """The text of a template, without blanks at its ends.

        Raises:
            BadInput: the template fails.
        """
        try:
            return self._environment.get_template(name).render(**values).strip()
        except jinja2.TemplateSyntaxError as error:
            raise BadInput(_told(error.filename or name, error.lineno, error.message or "")) from error
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            file, line = next(
                ((frame.filename, frame.lineno) for frame in reversed(frames) if _SUFFIX in frame.filename),
                (name, None),
            )
            raise BadInput(_told(file, line, f"{type(error).__name__}: {error}")) from error


def load_templates(folder: Path | None = None) -> Templates:
    """Read all templates.

    Args:
        folder: a user's own; what has the name of one of the project's takes its place, other files are for
            these to include. None for the project's alone.

    Raises:
        BadInput: the folder or a file in it cannot be read, none has the name of a template, or one is no
            template.
    """
    own = {name: _read(_OWN / name) for name in NAMES}
    users = {} if folder is None else _users(folder)
    texts = own | users
    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701 - a prompt is no HTML
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FunctionLoader(
            lambda name: (
                (texts[name], str((folder if folder and name in users else _OWN) / name), None)
                if name in texts
                else None
            )
        ),
    )
    environment.filters |= {"value": _value, "one_line": _one_line, "meaning": _meaning, "spelled": _spelled}
    for name, text in texts.items():
        _check(environment, (folder if folder and name in users else _OWN) / name, text, texts)
    digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()
    return Templates(digest, environment)


def _users(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        raise BadInput(f"--templates {folder}: is no folder; name one that has {', '.join(NAMES)}")
    texts = {path.name: _read(path) for path in sorted(folder.glob(f"*{_SUFFIX}"))}
    if not texts.keys() & NAMES.keys():
        raise BadInput(f"--templates {folder}: has none of {', '.join(NAMES)}; name one of these")
    return texts


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}); a template is a text file in UTF-8") from error


def _check(environment: jinja2.Environment, path: Path, text: str, texts: Mapping[str, str]) -> None:
    """Refuse what is no template, includes what is not there, or uses a name that it is not given."""
    try:
        tree = environment.parse(text, path.name, str(path))
    except jinja2.TemplateSyntaxError as error:
        raise BadInput(_told(str(path), error.lineno, error.message or "")) from error
    for included in meta.find_referenced_templates(tree):
        if included is not None and included not in texts:
            raise BadInput(_told(str(path), None, f"{included} is not there"))
    if path.name not in NAMES:
        return
    unknown = meta.find_undeclared_variables(tree) - NAMES[path.name]
    for name, line in _used(tree):
        if name in unknown:
            given = ", ".join(sorted(NAMES[path.name]))
            raise BadInput(_told(str(path), line, f"there is no {name} here, only {given}"))


def _used(tree: nodes.Template) -> Iterator[tuple[str, int]]:
    return ((node.name, node.lineno) for node in tree.find_all(nodes.Name))


def _told(file: str, line: int | None, fault: str) -> str:
    place = file if line is None else f"{file}: line {line}"
    return f"{place}: {' '.join(fault.split())}; correct the template"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _value(value: object) -> str:
    """A value of a row as SQL writes it."""
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _meaning(column: ColumnText) -> str:
    """What is published of a column, in one line; empty where that says no more than its name."""
    said = {_bare(column.name)}
    parts = []
    for label, text in (("", column.title), ("", column.description), ("values: ", column.values)):
        if text and _bare(text) not in said:
            said.add(_bare(text))
            parts.append(label + _one_line(text))
    return "; ".join(parts)


def _bare(text: str) -> str:
    return _one_line(text.replace("_", " ")).casefold()


def _spelled(name: str, table: TableText, dialect: str) -> str:
    """A name in quotes if the statement of its table has it so, or if it needs them."""
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
    if plain and not any(each in table.create for each in (f'"{name}"', f"`{name}`", f"[{name}]")):
        return name
    quote = next((kind.quote for kind in kinds() if kind.title == dialect), '"')
    return quote + name.replace(quote, quote * 2) + quote
