import os
from pathlib import Path

import pytest

from dialects.enums import Dialect
from harness.provision import compose, images
from loaders.base.errors import EngineUnavailable


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            None,
            r"docker was not found; install Docker, or start .*without Docker: make up NATIVE=1",
        ),
        (
            "echo 'Cannot connect' >&2; exit 1",
            r"no Docker engine answers .*Cannot connect.*start it, or .*NATIVE=1",
        ),
        ('[ "$1" = version ]', r"docker has no Compose plugin; install it .*NATIVE=1"),
    ],
)
def test_what_is_missing_is_named_with_its_remedy(
    script: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if script is not None:
        command = tmp_path / "docker"
        command.write_text(f"#!{os.path.realpath('/bin/sh')}\n{script}\n", encoding="utf-8")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=said):
        compose.up([Dialect.MYSQL], env=tmp_path / ".env")
    assert compose.down(env=tmp_path / ".env") == []
    assert not (tmp_path / ".env").exists()


def test_images_need_an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailable, match=r"docker was not found; install Docker, or .*NATIVE=1"):
        images.build([Dialect.MYSQL], env=tmp_path / ".env")
