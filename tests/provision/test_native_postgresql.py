"""How a private PostgreSQL server is started where a part of PostgreSQL is missing."""

from pathlib import Path

import pytest

from harness.provision.postgresql import KIND
from harness.provision.servers import Home, Program


@pytest.mark.parametrize(
    ("library", "is_switched_off"),
    [
        ("lib/pg_stat_statements.so", False),
        ("lib/postgresql/pg_stat_statements.dylib", False),
        ("lib64/pgsql/pg_stat_statements.so", False),
        ("lib/plpgsql.so", True),
    ],
)
def test_a_library_that_is_not_there_is_not_asked_for(
    tmp_path: Path, library: str, *, is_switched_off: bool
) -> None:
    """A server that cannot load it would not start."""
    for name in ("bin/postgres", library):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    command = KIND.serve(Program(tmp_path / "bin/postgres", "18.1"), Home(tmp_path / "home"), 5432)
    assert ("--shared_preload_libraries=" in command) is is_switched_off
