import shutil
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.runs.reader import counterparts, described, select
from tests.harness.run_folders import right_on, write_run

NAMED = ("plain", "sqlite", "mysql/plain", "a:b", "/x")


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `run` with predictors that are named like selectors, and copies of it named like operands."""
    parent = tmp_path_factory.mktemp("odd")
    results = [
        result
        for name in NAMED
        for dialect in (Dialect.SQLITE, Dialect.MYSQL)
        for result in right_on([0], name, dialect, questions=1)
    ]
    path = write_run(parent / "run", results)
    shutil.copytree(path, parent / "c:d")
    shutil.copytree(path, parent / "c")
    return parent


@pytest.fixture
def beside_odd(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(odd)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run:plain", "sqlite/plain, mysql/plain"),
        ("run:mysql", ", ".join(f"mysql/{name}" for name in NAMED)),
        ("run:mysql/", ", ".join(f"mysql/{name}" for name in NAMED)),
        ("run:sqlite/plain", "sqlite/plain"),
        ("run:sqlite/sqlite", "sqlite/sqlite"),
        ("run:/sqlite", "sqlite/sqlite, mysql/sqlite"),
        ("run:mysql/mysql/plain", "mysql/mysql/plain"),
        ("run:/mysql/plain", "sqlite/mysql/plain, mysql/mysql/plain"),
        ("run:a:b", "sqlite/a:b, mysql/a:b"),
        ("run:mysql/a:b", "mysql/a:b"),
        ("run:/x", "sqlite//x, mysql//x"),
        ("run/:plain", "sqlite/plain, mysql/plain"),
        ("c:d:plain", "sqlite/plain, mysql/plain"),
        ("c:plain", "sqlite/plain, mysql/plain"),
    ],
)
@pytest.mark.usefixtures("beside_odd")
def test_an_operand_is_a_folder_and_what_is_selected(text: str, expected: str) -> None:
    assert described(list(select(text).results)) == expected


@pytest.mark.parametrize("text", ["run", "c:d", "c"])
@pytest.mark.usefixtures("beside_odd")
def test_a_folder_alone_is_all_of_it(text: str) -> None:
    selection = select(text)
    assert len(selection.results) == 2 * len(NAMED)
    assert selection.run.folder == Path(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", ["no such folder", "results/latest"]),
        ("nowhere", ["nowhere: no such folder", "results/latest"]),
        (":plain", ["no such folder"]),
        ("x" * 5000, ["no such folder"]),
        (".", [".: has no manifest.json", "results/<run id>"]),
        ("run:sqlite", ["can mean", "sqlite/plain", "or sqlite/sqlite, mysql/sqlite", "DIALECT/"]),
        ("run:mysql/plain", ["can mean mysql/plain or sqlite/mysql/plain, mysql/mysql/plain", "/PREDICTOR"]),
        ("run:postgresql", ["'postgresql' is neither a dialect nor a predictor of that run", "sqlite/plain"]),
        ("run:Plain", ["'Plain' is neither a dialect"]),
        ("run:", ["'' is neither a dialect"]),
        ("run:postgresql/plain", ["'postgresql/plain' is neither"]),
    ],
)
@pytest.mark.usefixtures("beside_odd")
def test_an_operand_that_means_nothing_or_two_things_is_one_clear_error(text: str, says: list[str]) -> None:
    with pytest.raises(BadInput) as raised:
        select(text)
    assert [part for part in says if part not in str(raised.value)] == [], raised.value
    assert str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("a", "b", "paired", "alone"),
    [
        ("run:mysql/a:b", "run:sqlite/plain", ["mysql/a:b, sqlite/plain"], (0, 0)),
        ("run:/sqlite", "run:a:b", ["sqlite/sqlite, sqlite/a:b", "mysql/sqlite, mysql/a:b"], (0, 0)),
        ("run:mysql", "run:sqlite/", [f"mysql/{name}, sqlite/{name}" for name in NAMED], (0, 0)),
        ("run:/sqlite", "run:sqlite/a:b", ["sqlite/sqlite, sqlite/a:b"], (1, 0)),
        ("run:mysql", "run:plain", ["mysql/plain, mysql/plain"], (4, 1)),
    ],
)
@pytest.mark.usefixtures("beside_odd")
def test_like_is_compared_with_like_unless_each_side_has_only_one(
    a: str, b: str, paired: list[str], alone: tuple[int, int]
) -> None:
    pairs, only_a, only_b = counterparts(select(a), select(b))
    assert [described(keys) for keys in pairs] == paired
    assert (len(only_a), len(only_b)) == alone
