"""The registry has the project's engines; tests/docs/test_engine.py brings another one."""

import subprocess
import sys

import pytest

from dialects.errors import BadInput
from harness.analyses.coverage.answers import Reason
from harness.engines import TITLES, in_order, kind_of, kinds, served


def test_engines_come_in_the_order_of_their_records() -> None:
    assert list(TITLES.items()) == [("sqlite", "SQLite"), ("mysql", "MySQL"), ("postgresql", "PostgreSQL")]
    assert [kind.name for kind in served()] == ["mysql", "postgresql"]


def test_an_unknown_engine_is_refused_with_all_names() -> None:
    with pytest.raises(
        BadInput, match="engine 'oracle' is not known; choose one of sqlite, mysql, postgresql"
    ):
        kind_of("oracle")


def test_engines_are_put_in_order() -> None:
    assert in_order(["postgresql", "sqlite", "postgresql"]) == ["sqlite", "postgresql"]


def test_reasons_are_those_of_coverage() -> None:
    assert {reason for kind in kinds() for reason in kind.coverage_reasons.values()} <= set(Reason)


def test_looking_at_all_records_imports_no_driver() -> None:
    look = "import sys; from harness.engines import kinds; kinds()"
    code = f"{look}; print({{'pymysql', 'psycopg'}} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
