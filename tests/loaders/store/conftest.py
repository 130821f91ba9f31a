"""A store of the test's own, and its clock."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders.base.store import Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "store.sqlite"


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path, say=pytest.fail) as opened:
        yield opened


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its one item is what the store takes for the time."""
    now = [1_700_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    return now
