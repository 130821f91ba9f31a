"""The reference is what the code says today."""

import pytest

from dialects.errors import BadInput
from harness.data.outcomes import Outcome
from harness.engines.errors import ErrorClass
from tests.docs import reference
from tests.docs.reference.command_line import commands
from tests.docs.reference.written import COMMAND


def test_the_committed_pages_are_what_the_code_says() -> None:
    assert reference.stale() == [], f"run `{COMMAND}`"


def test_every_command_and_option_is_there() -> None:
    page = reference.pages()["cli.md"]
    for name, command in commands().items():
        _, _, section = page.partition(f"{name}\n\n`bird-harness ")
        section = section.partition("\n## ")[0]
        for param in command.params:
            if param.hidden:
                continue
            options = param.opts if param.param_type_name == "option" else [param.name.upper()]
            assert [option for option in options if option not in section] == [], name


def test_options_say_their_defaults_and_choices() -> None:
    page = reference.pages()["cli.md"]
    assert "| `--extract` `none` or `fences` or `answer-1` | `none` |" in page
    assert "| `--timeout` SECONDS | `30` |" in page
    assert "| `--out` PATH | required |" in page
    assert "| `--predictions` PATH (repeatable) |  |" in page


def test_the_vocabularies_are_complete() -> None:
    page = reference.pages()["words.md"]
    assert [word for word in (*Outcome, *ErrorClass) if f"| `{word}` |" not in page] == []
    assert "| `wrong_literal` | The same conditions with other values. |" in page


def test_errors_have_their_exit_codes() -> None:
    assert f"| `dialects.errors.BadInput` | {BadInput.exit_code} |" in reference.pages()["words.md"]


def test_a_stale_page_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = reference.pages()
    monkeypatch.setattr(reference, "pages", lambda: {**real, "cli.md": "other", "new.md": ""})
    assert reference.stale() == ["cli.md", "new.md"]
    assert reference.main(["--check"]) == 1
    assert "cli.md, new.md" in capsys.readouterr().err
