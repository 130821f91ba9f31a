"""Texts of the code as Markdown."""

import inspect
import re

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields):$")
_ITEM = re.compile(r"^([\w*]+): ?(.*)$")


def docstring(thing: object) -> str:
    """A docstring of this project's style as Markdown: sections as lists, examples as they are."""
    lines: list[str] = []
    section = False
    for line in inspect.cleandoc(inspect.getdoc(thing) or "").splitlines():
        heading, item = _SECTION.match(line), _ITEM.match(line.strip())
        if heading:
            section = True
            lines += [f"**{heading[1]}:**", ""]
        elif section and item and line.startswith("    ") and not line.startswith("     "):
            lines.append(f"- `{item[1]}`: {item[2]}")
        elif section and line.strip():
            lines.append(f"  {line.strip()}" if lines[-1] else f"- {line.strip()}")
        else:
            lines.append(line)
    return "\n".join(lines)


def one_line(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """For a table."""
    return one_line(text).replace("|", "\\|")
