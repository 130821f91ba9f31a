"""A machine on which the harness finds nothing."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.provision import envfile


@pytest.fixture
def fresh_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No server of the developer's is seen, and none is touched."""
    for name in ("BIRD_MYSQL_DSN", "BIRD_POSTGRESQL_DSN", "BIRD_PROVISION"):
        monkeypatch.delenv(name, raising=False)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # for the account that root starts servers as
        monkeypatch.setenv("BIRD_STATE", folder)
        monkeypatch.setattr(envfile, "default_path", lambda: Path(folder) / ".env")
        yield
