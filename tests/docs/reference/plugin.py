"""The section of the pytest plugin."""

from collections.abc import Iterator
from typing import Any

from harness import pytest_plugin
from tests.docs.reference.markdown import cell, docstring

_HEAD = """\
The pytest plugin comes with bird-harness, and does nothing without one of its options
([pytest](../how-to/pytest.md)). Options mean the same as those of [`bird-harness eval`](#eval).
"""


class _Options:
    """Stands in for pytest's parser, to hear which options the plugin declares."""

    def __init__(self) -> None:
        self.declared: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def getgroup(self, *_: Any, **__: Any) -> "_Options":
        return self

    def addoption(self, *names: str, **about: Any) -> None:
        self.declared.append((names, about))

    def addini(self, name: str, help: str = "", **about: Any) -> None:  # noqa: A002 - pytest's own name
        self.declared.append(((name,), {"help": help, **about, "ini": True}))


def declared() -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Names of the plugin's options, and what it says of each."""
    options = _Options()
    pytest_plugin.pytest_addoption(options)  # type: ignore[arg-type]
    return options.declared


def plugin() -> str:
    rows = []
    for names, about in declared():
        flag = str(about.get("action", "")).startswith("store_")
        choices = about.get("choices")
        value = " or ".join(f"`{each}`" for each in choices) if choices else about.get("metavar") or "TEXT"
        shown = ", ".join(f"`{name}`" for name in names) + (
            "" if flag or about.get("ini") else f" {cell(value)}"
        )
        default = about.get("default")
        said = "" if default in (None, []) else f"`{default}`"
        rows.append(f"| {shown} | {said} | {cell(about.get('help') or '')} |")
    parts = [
        "## pytest options and fixtures\n",
        _HEAD,
        "| option | default | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n",
    ]
    fixtures = list(_fixtures())
    if fixtures:
        parts += ["### Fixtures\n", *(f"#### {name}\n\n{text}\n" for name, text in fixtures)]
    return "\n".join(parts)


def _fixtures() -> Iterator[tuple[str, str]]:
    """Names and docstrings of the plugin's fixtures."""
    for name, thing in sorted(vars(pytest_plugin).items()):
        if type(thing).__name__ == "FixtureFunctionDefinition":
            yield name, docstring(thing._get_wrapped_function())
