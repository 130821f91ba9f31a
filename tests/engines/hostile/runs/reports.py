"""Whether what a run writes for others can be read by them."""

import csv
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What HTML may not hold as it is. https://html.spec.whatwg.org/#preprocessing-the-input-stream"""
_ON_A_TERMINAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.])")


def faults(folder: Path) -> list[str]:
    """What is wrong with the files of a run folder."""
    found = []
    for path in sorted(folder.iterdir()):
        text = path.read_bytes().decode("utf-8")
        if path.suffix in (".html", ".md", ".tex", ".csv") and (strange := _CONTROL.search(text)):
            found.append(f"{path.name}: {strange[0]!r} at {strange.start()}")
        if path.suffix == ".html" and (wrong := _wrong_html(text)):
            found.append(f"{path.name}: {wrong}")
        if path.suffix == ".csv":
            found += [
                f"{path.name}: {cell[:50]!r} is a formula" for cell in _cells(path) if _FORMULA.match(cell)
            ]
        if path.suffix == ".json":
            json.loads(text)
        if path.suffix == ".jsonl":
            for line in text.removesuffix("\n").split("\n"):
                json.loads(line)
    return found


def _cells(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}, path.name
    return [cell for row in rows for cell in row]


def _wrong_html(text: str) -> str | None:
    """Scripts that a prediction brought, or ended."""
    opened, closed = len(re.findall(r"<script\b", text)), text.count("</script>")
    if opened != closed:
        return f"{opened} scripts begin, {closed} end"
    return "a prediction's script" if "<script>alert" in text else None


def junit(path: Path) -> ET.Element:
    """pytest's report as XML."""
    return ET.fromstring(path.read_text(encoding="utf-8"))  # noqa: S314 - our own


def strange(said: str) -> list[str]:
    """What a terminal would obey, or would show in another order, instead of printing it."""
    return _ON_A_TERMINAL.findall(re.sub(r"\x1b\[[0-9;]*m", "", said))
