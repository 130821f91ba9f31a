"""The rooms of docs/explanation/architecture.md are there, and modules and classes say its words."""

import re
from pathlib import Path

from dialects.enums import Dialect
from tests.docs import passed, rooms

ROOT = Path(__file__).parents[2]
ROOMS = ("harness", "loaders", "dialects")
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
_CLASS = re.compile(r"^\s*class (\w+)", re.MULTILINE)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def rows(head: str, page: Path) -> list[list[str]]:
    """The cells of the table below `head`, row by row."""
    lines = page.read_text(encoding="utf-8").splitlines()
    first = lines.index(head) + 2
    end = next((at for at in range(first, len(lines)) if not lines[at].startswith("|")), len(lines))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[first:end]]


def replaced() -> dict[str, str]:
    """The words that are not used, with what is said instead."""
    return {word: say for say, words in rows("| say | not |", GLOSSARY) for word in words.split(", ")}


def named() -> list[tuple[str, str]]:
    """Every module and class: its name, and where it stands."""
    found = []
    for path in (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))):
        place = path.relative_to(ROOT).as_posix()
        found.append((path.stem if path.stem != "__init__" else path.parent.name, place))
        classes = _CLASS.findall(path.read_text(encoding="utf-8"))
        found += [(name, f"{place}: {name}") for name in classes]
    return found


def parts(name: str) -> set[str]:
    """The words of a name: `CamelCase`, `snake_case`."""
    return {part.lower() for part in _PARTS.findall(name)}


def test_no_module_or_class_is_named_by_a_word_that_was_replaced() -> None:
    words = replaced()
    assert len(words) > 15
    names = named()
    assert len(names) > 800
    assert {
        where: (name, say) for name, where in names for word, say in words.items() if word in parts(name)
    } == {}


def test_no_word_of_the_glossary_is_one_that_was_replaced() -> None:
    words = {word for row in rows("| word | meaning |", GLOSSARY) for word in row[0].split(", ")}
    assert len(words) > 15
    assert words & replaced().keys() == set()
    listed = [row[0].casefold() for row in rows("| word | meaning |", GLOSSARY)]
    assert listed == sorted(listed)


def test_the_modules_that_the_page_names_are_there() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = re.findall(r"`((?:harness|loaders|dialects|tests)/[\w/.]*)`", page)
    assert len(named) > 35
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert page.count("\n") <= 150


def test_the_picture_of_the_page_is_drawn_from_the_imports() -> None:
    drawn = PAGE.read_text(encoding="utf-8").split(rooms.FENCE, 1)[1].split("```", 1)[0]
    assert drawn == f"{rooms.picture()}\n", "python -m tests.docs.rooms --update"


OWN = re.compile(r"(?:harness/engines|loaders|dialects)/(\w+)/\w+\.py|harness/provision/(\w+)\.py")
"""What belongs to one engine, by its name."""

TABLES = {
    "loaders/dumps.py",
    "harness/data/set_manifest.py",
    "harness/labs/tasks/families.py",
}
"""Data, one entry an engine or a family of scripts."""


def test_no_other_module_names_the_dialect_of_a_server() -> None:
    paths = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    naming = {
        path.relative_to(ROOT).as_posix()
        for path in paths
        if re.search(r"Dialect\.(?:MYSQL|POSTGRESQL|DUCKDB|MARIADB)\b", path.read_text(encoding="utf-8"))
    }
    assert {name for name in naming if not _is_own(name)} == TABLES


def _is_own(path: str) -> bool:
    found = OWN.fullmatch(path)
    return found is not None and bool(set(found.groups()) & set(Dialect))


def test_tables_of_data_name_dialects_as_keys_alone() -> None:
    asking = re.compile(r"\bis (?:not )?Dialect\.(?:MYSQL|POSTGRESQL|DUCKDB|MARIADB)\b")
    assert {name for name in TABLES if asking.search((ROOT / name).read_text(encoding="utf-8"))} == set()


FROM = re.compile(
    r"\b(?:from_items|joins_of|traverse_scope|build_scope)\b|\bexp\.From\b"
    r"|(?:isinstance\([^()]*|find_all\([^()]*|\.find\([^()]*)\bexp\.Join\b"
    r"|(?:args\[|\.get\(|\.set\(|append\()[\"'](?:from_?|joins|laterals)[\"']"
)
"""What takes FROM apart, instead of asking `sources_of` in `dialects/clauses.py` or `Query.sources`."""

READ_FROM = {"harness/sqltree/query.py", "harness/scoring/chance/queries.py"}

COUNTED_JOINS = {"harness/sqltree/constructs.py"}
"""Counts nodes of a tree by their kind, and reads nothing in them."""


def test_no_other_module_above_dialects_takes_from_apart() -> None:
    paths = (path for room in ("harness", "loaders") for path in (ROOT / room).rglob("*.py"))
    reading = {
        path.relative_to(ROOT).as_posix() for path in paths if FROM.search(path.read_text(encoding="utf-8"))
    }
    assert reading == READ_FROM | COUNTED_JOINS


def measured(what: str) -> list[str]:
    """The numbers of the page that are those of now."""
    (now,) = [cells[1] for cells in rows("| what | now |", PAGE) if cells[0].startswith(what)]
    return re.findall(r"\d+", now)


def test_the_page_has_the_house_as_it_is_drawn() -> None:
    assert measured("rooms, arrows, floors") == re.findall(r"\d+", rooms.drawn())
    assert "no circle" in rooms.drawn()


def test_no_two_modules_have_a_class_of_one_name() -> None:
    assert rooms.homonyms(rooms.sources()) == []


def test_a_prediction_passes_no_more_modules_than_the_page_says(tmp_path: Path) -> None:
    assert 20 < len(passed.passed(tmp_path)) <= int(measured("modules that one prediction passes")[0])
