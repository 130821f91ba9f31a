"""The sample benchmark as a published package, a manifest that knows it, and folders of the test's own."""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.data import published_sets as manifest
from harness.data.set_manifest import PUBLISHED
from loaders.sample import sample_folder
from tests.harness.data.sets.packages.fetched import dev_zip, mini_dev_zip

Publish = Callable[..., Path]
FOLDERS = {"mini_dev": "minidev/MINIDEV", "dev": "dev_20240627", "mini_dev_2025": "MINIDEV_2025"}
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No proxy, no data and no archives but the test's; the manifest is read again after it."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("BIRD_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("BIRD_HOME", raising=False)
    yield
    manifest.sets_by_name.cache_clear()


@pytest.fixture(scope="session")
def packages() -> dict[str, bytes]:
    """The archives by the name of their sets."""
    sample = sample_folder()
    return {"mini_dev": mini_dev_zip(sample), "dev": dev_zip(sample)}


@pytest.fixture
def publish(tmp_path: Path, packages: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Publish:
    """Write a manifest that knows the test's archives, at an address, and use it; returns its path."""

    def write(url: str, files: dict[str, str] | None = None, **facts: object) -> Path:
        digests = [f"{json.dumps(name)} = {json.dumps(digest)}" for name, digest in (files or {}).items()]
        lines: list[str] = []
        for name, folder in FOLDERS.items():
            lines += [f"[{name}]", 'page = "https://example.org/page"', f'folder = "{folder}"']
            if name in packages:
                raw = packages[name]
                known = {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()} | facts
                lines += [f"[{name}.archive]", f'name = "{name}.zip"', f'url = "{url}"']
                lines += [f"{key} = {json.dumps(value)}" for key, value in known.items() if value is not None]
            else:
                lines += ['databases_of = "mini_dev"', f"[{name}.hub]", 'repository = "birds/questions"']
                lines += [f'revision = "{REVISION}"', f"[{name}.hub.files]"]
                lines += [f'"mini_dev_{one}.json" = "data/mini_dev_{one}-0.json"' for one in PUBLISHED]
            lines += [f"[{name}.files]", *digests]
        path = tmp_path / "published.toml"
        path.write_text("\n".join(lines), encoding="utf-8")
        monkeypatch.setattr(manifest, "MANIFEST", path)
        manifest.sets_by_name.cache_clear()
        return path

    return write
