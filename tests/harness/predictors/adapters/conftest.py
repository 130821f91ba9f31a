"""What the tests of endpoints share."""

import pytest

from tests.harness.predictors.adapters.asking import KEY


@pytest.fixture
def key_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all that says which endpoint is meant, only the key."""
    for name in ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
