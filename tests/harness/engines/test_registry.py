"""The registry has the project's engines, and takes another one that no other file knows."""

import subprocess
import sys
from dataclasses import replace

import pytest

from dialects.errors import BadInput
from harness.cli.status import print_status
from harness.coverage.answers import Reason
from harness.engines import TITLES, EngineKind, kind_of, kinds, register, registry, served


@pytest.fixture
def fourth(monkeypatch: pytest.MonkeyPatch) -> EngineKind:
    """SQLite under another name, for the time of a test."""
    monkeypatch.setattr(registry, "_REGISTERED", {})
    kind = replace(kind_of("sqlite"), name="libsql", title="libSQL", rank=40)
    register(kind)
    return kind


def test_engines_come_in_the_order_of_their_records() -> None:
    assert list(TITLES.items()) == [("sqlite", "SQLite"), ("mysql", "MySQL"), ("postgresql", "PostgreSQL")]
    assert [kind.name for kind in served()] == ["mysql", "postgresql"]


def test_another_engine_stands_in_every_list(fourth: EngineKind, capsys: pytest.CaptureFixture[str]) -> None:
    assert kinds()[-1] == fourth
    assert TITLES["libsql"] == "libSQL"
    print_status("sample")
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    [sqlite] = [row for row in rows if row[0] == "sqlite"]
    [other] = [row for row in rows if row[0] == "libsql"]
    assert other[1:] == sqlite[1:]


def test_a_name_is_given_once(fourth: EngineKind) -> None:
    register(fourth)
    for name in ("libsql", "mysql"):
        with pytest.raises(BadInput, match=f"engine '{name}' is there already"):
            register(replace(fourth, name=name, title="another"))
    with pytest.raises(BadInput, match=r"engine 'oracle' is not known; choose one of sqlite, .*libsql"):
        kind_of("oracle")


def test_reasons_are_those_of_coverage() -> None:
    assert {reason for kind in kinds() for reason in kind.coverage_reasons.values()} <= set(Reason)


def test_looking_at_all_records_imports_no_driver() -> None:
    look = "import sys; from harness.engines import kinds; kinds()"
    code = f"{look}; print({{'pymysql', 'psycopg'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
