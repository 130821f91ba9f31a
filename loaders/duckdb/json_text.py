"""JSON as SQLite reads it: of two equal labels the first counts, labels are compared as they are written.

Numbers keep their digits. Texts are those of `root`: JSON without white space between its parts.
https://sqlite.org/json1.html and SQLite's json.c
"""

import json
import re
from collections.abc import Iterator

_STRING = r'"(?:[^"\\]|\\.)*+"?'
_SCALAR = re.compile(rf'{_STRING}|[^\],}}"]++', re.DOTALL)
_BRACKET = re.compile(rf"{_STRING}|([\[{{])|([\]}}])", re.DOTALL)
_NODE = re.compile(rf'{_STRING}|[^\[\]{{}},:"]++|[\[{{]', re.DOTALL)
_STEP = re.compile(r'\."([^"]*)"|\.([^."\[][^.\[]*)|\[([0-9]{1,9})\]|\[#(-[0-9]{1,9})\]')
_NUMBERED = re.compile("[0-9]")
_PLAIN_LABEL = re.compile('"([A-Za-z][A-Za-z0-9]*)"')


def _part(value: str, start: int) -> str:
    """Return the part that begins at a character."""
    if value[start] not in "[{":
        found = _SCALAR.match(value, start)
        return found[0] if found else ""
    depth = 0
    for found in _BRACKET.finditer(value, start):
        depth += bool(found[1]) - bool(found[2])
        if depth == 0:
            return value[start : found.end()]
    return value[start:]


def _items(value: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place, the label (empty in an array) and the part of each item of an array or an object."""
    place = 1
    while value[:1] in {"[", "{"} and place < len(value) and value[place] not in "]}":
        start, label = place, ""
        if value[0] == "{":
            label = _part(value, place)
            place += len(label) + 1
        part = _part(value, place)
        place += len(part) + 1
        yield start, label, part


def member(value: str, label: str) -> str | None:
    """Return the member of an object with a label."""
    if not value.startswith("{"):
        return None
    return next((part for _, name, part in _items(value) if name == f'"{label}"'), None)


def length(value: str) -> int:
    """Return how many elements an array has; 0 for anything else."""
    return sum(1 for _ in _items(value)) if value.startswith("[") else 0


def element(value: str, number: int) -> str | None:
    """Return an element of an array, counted from 0, or from the end with -1."""
    if not value.startswith("["):
        return None
    parts = [part for _, _, part in _items(value)]
    place = number + len(parts) if number < 0 else number
    return parts[place] if 0 <= place < len(parts) else None


def at(value: str, path: str, arrow: int) -> str | None:
    """Return the part at a path; `arrow` is 1 for what follows ->, where `$` may be left out."""
    if arrow and not path.startswith("$"):
        path = f"$[{path}]" if _NUMBERED.match(path) else f"${path}" if path[:1] == "[" else f"$.{path}"
    if not path.startswith("$"):
        return None
    part: str | None = value
    place = 1
    while place < len(path) and part is not None:
        step = _STEP.match(path, place)
        if step is None or (step[4] is not None and int(step[4]) == 0):
            return None
        place = step.end()
        label = step[1] if step[1] is not None else step[2]
        part = element(part, int(step[3] or step[4])) if label is None else member(part, label)
    return part


def edited(value: str, steps: str, part: str, mode: str) -> str:
    """Return the text with `part` where the steps lead: `["a",0]` is `$.a[0]`, `-1` the last, null `[#]`.

    `mode` is set, insert, replace or remove, as of json_set() and its like.
    """
    wanted = [step for _, _, step in _items(steps)]
    before = after = ""
    whole = value
    for depth, step in enumerate(wanted):
        is_label = step.startswith('"')
        if whole[:1] != ("{" if is_label else "["):
            return value
        items = list(_items(whole))
        number = len(items) if step == "null" else 0 if is_label else int(step)
        number += len(items) if number < 0 else 0
        found = [
            item for count, item in enumerate(items) if (item[1] == step if is_label else count == number)
        ][:1]
        if not found:
            if mode in {"replace", "remove"} or (not is_label and number != len(items)):
                return value
            made = _nested(wanted[depth + 1 :], part)
            if made is None:
                return value
            comma, label = "" if not items else ",", f"{step}:" if is_label else ""
            return f"{before}{whole[:-1]}{comma}{label}{made}{whole[-1]}{after}"
        [(place, label, own)] = found
        start = place + len(label) + bool(label)
        rest = whole[start + len(own) :]
        if mode == "remove" and depth == len(wanted) - 1:
            kept = (
                whole[:place] + rest[1:] if rest.startswith(",")
                else whole[: place - 1] + rest if place > 1
                else whole[:1] + rest
            )  # fmt: skip
            return f"{before}{kept}{after}"
        before, after, whole = before + whole[:start], rest + after, own
    return value if mode == "insert" else f"{before}{part}{after}"


def _nested(steps: list[str], part: str) -> str | None:
    """Return `part` inside what the remaining steps make; None if they cannot be made."""
    for step in reversed(steps):
        if not step.startswith('"') and step != "0":
            return None
        part = f"[{part}]" if step == "0" else f"{{{step}:{part}}}"
    return part


def rows(value: str, deep: int, base: str, label: str) -> str:
    """Return the rows of json_each() and, deep, of json_tree() as a list of objects.

    k is the key as JSON, v the value as JSON, n and p the numbers of the node and of its parent, f its full
    key and q its path. `base` is the path to `value`; `label` its own key as JSON, empty for none.
    """
    queue = [
        {
            "k": label or None,
            "v": value,
            "n": 0,
            "p": None,
            "f": base + (_step(label) if label else ""),
            "q": base,
        }
    ]
    for at_, item in enumerate(queue):
        if at_ and not deep:
            break
        number = int(str(item["n"])) + 1
        for count, (_, name, part) in enumerate(_items(str(item["v"]))):
            number += bool(name)
            step = _step(name) if name else f"[{count}]"
            queue.append({
                "k": name or str(count), "v": part, "n": number, "p": item["n"] if deep else None,
                "f": f"{item['f']}{step}", "q": item["f"],
            })  # fmt: skip
            number += len(_NODE.findall(part))
    return json.dumps(queue[1:] if not deep and value[:1] in {"[", "{"} else queue, ensure_ascii=False)


def _step(label: str) -> str:
    plain = _PLAIN_LABEL.fullmatch(label)
    return f".{plain[1] if plain else label}"
