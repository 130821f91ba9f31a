from pathlib import Path

import pytest

from dialects.errors import BadInput
from harness.engines.base import ColumnText
from harness.predictors.schema import describe
from tests.harness.predictors.schema.shops import FARM

HEADER = "original_column_name,column_name,column_description,data_format,value_description\n"


def described(folder: Path, name: str, content: bytes) -> tuple[dict[str, ColumnText], list[str]]:
    """The stables' columns, and what is left over but for the files that the other tables have not."""
    (folder / name).write_bytes(content)
    found = describe(FARM, folder)
    columns = {column.name: column for column in found.database.tables[1].columns}
    return columns, [line for line in found.left_over if "no file describes" not in line]


TEXTS = [
    ("plain", b"name,short name,what it is called,text,any\n", ("short name", "what it is called", "any")),
    ("blanks", b' Name ,  ," what\r\n it is called ",text,\r\n', (None, "what\r\n it is called", None)),
    ("case", b"NAME,,called,text,\n", (None, "called", None)),
    ("quotes and commas", b'name,"a, ""b""",,text,\n', ('a, "b"', None, None)),
    ("too few cells", b"name,short\n", ("short", None, None)),
    ("Windows-1252", b"name,,a \x96 b,text,\x95 one\n", (None, "a \u2013 b", "\u2022 one")),
    ("no text in Windows-1252 either", b"name,,\x81\x96,text,\n", (None, "\ufffd\u2013", None)),
    ("UTF-8", "name,,Größe,text,\n".encode(), (None, "Größe", None)),
]


@pytest.mark.parametrize(("lines", "texts"), [each[1:] for each in TEXTS], ids=[each[0] for each in TEXTS])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "with a byte order mark"])
def test_descriptions_are_read_however_they_are_written(
    lines: bytes, texts: tuple[str | None, ...], mark: bytes, tmp_path: Path
) -> None:
    if mark and any(byte > 0x7F for byte in lines) and "Größe".encode() not in lines:
        lines = lines.decode("cp1252", errors="replace").encode()
    columns, left_over = described(tmp_path, " Stables.csv", mark + HEADER.encode() + lines)
    assert (columns["name"].title, columns["name"].description, columns["name"].values) == texts
    assert left_over == []


@pytest.mark.parametrize(
    ("name", "lines", "says"),
    [
        ("stables.csv", "doors,,how many,integer,\n", "line 2: table stables has no column doors"),
        ("stables.csv", ",,of nothing,text,\n", "line 2: table stables has no column (no name)"),
        ("stables.csv", 'name,"a\nb",,,\ndoors,,x,,\n', "line 4: table stables has no column doors"),
        ("stables.csv", "name,,a,,\nName,,b,,\n", "line 3: describes column name a second time"),
        ("barns.csv", "name,,a,,\n", "farm has no table barns"),
    ],
)
def test_what_belongs_to_nothing_is_told(name: str, lines: str, says: str, tmp_path: Path) -> None:
    _, left_over = described(tmp_path, name, (HEADER + lines).encode())
    assert left_over == [f"{tmp_path / name}: {says}"]


def test_lines_that_say_nothing_and_columns_without_a_line_are_no_fault(tmp_path: Path) -> None:
    columns, left_over = described(tmp_path, "stables.csv", (HEADER + ",,,,\nname,,,text,\n\n").encode())
    assert left_over == []
    assert {column.description for column in columns.values()} == {None}


def test_tables_and_databases_without_descriptions_are_told(tmp_path: Path) -> None:
    (tmp_path / "animals.csv").write_text(HEADER, encoding="utf-8")
    assert describe(FARM, tmp_path).left_over == (
        f"{tmp_path}: no file describes table stables",
        f"{tmp_path}: no file describes table visits",
    )
    nowhere = tmp_path / "nowhere"
    assert describe(FARM, nowhere).left_over == (f"{nowhere}: there are no descriptions of farm",)


def test_of_two_files_for_a_table_the_second_is_told(tmp_path: Path) -> None:
    (tmp_path / "Stables.csv").write_text(HEADER + "name,,one,,\n", encoding="utf-8")
    columns, left_over = described(tmp_path, "stables.csv", (HEADER + "name,,two,,\n").encode())
    assert columns["name"].description == "one"
    assert left_over == [f"{tmp_path / 'stables.csv'}: table stables is described by another file, too"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "line 1 has no column original_column_name"),
        ("name,description\n", "line 1 has no column original_column_name"),
        (HEADER + 'name,"open\n', r"line \d: not CSV \(unexpected end of data\)"),
    ],
)
def test_what_is_no_description_file_is_one_clear_error(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "stables.csv").write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=rf"stables\.csv: {says}"):
        describe(FARM, tmp_path)
