"""What docs/how-to/troubleshooting.md shows is what the commands say."""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, Block, blocks
from tests.harness.conftest import Call

SHOWN = blocks(ROOT / "docs" / "how-to" / "troubleshooting.md")
SAID = [block for block in SHOWN if block.language == "text"]


@pytest.mark.parametrize("block", SAID, ids=lambda block: block.title)
def test_a_message_is_the_one_that_the_command_says(
    block: Block, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in SHOWN:
        if each.language != "text" and each.title:
            (tmp_path / each.title).write_text(each.text, encoding="utf-8")
    for name, value in {"STATE": "state", "STORE": "store.sqlite"}.items():
        monkeypatch.setenv(f"BIRD_{name}", str(tmp_path / value))
    monkeypatch.setenv("BIRD_PROVISION", "dsn")
    words = shlex.split(block.title or "")
    program = words.index("bird-harness")
    for variable in words[:program]:
        monkeypatch.setenv(*variable.split("=", 1))
    _, output, errors = call(*words[program + 1 :])
    wanted = ".*".join(map(re.escape, block.text.strip().split("…")))
    assert re.search(f"^{wanted}", output + errors, re.MULTILINE), output + errors


def test_every_command_of_the_page_has_its_message() -> None:
    assert len(SAID) > 8
    assert [block.where for block in SAID if "bird-harness " not in (block.title or "")] == []
