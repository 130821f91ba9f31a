"""The fenced blocks of every page: README, CONTRIBUTING, and all below `docs`."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.frameworks import FRAMEWORKS

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))

LANGUAGES = ("console", "python", "json", "jsonl", "yaml", "toml", "ini", "sql", "text")
"""What a block may be. `text` is what something prints; `console` is commands, without prompts or output."""

_FENCE = re.compile(
    r"^(?P<fence>```+)(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)
_OF_FRAMEWORK = re.compile(
    rf"^(?:import|from) (?:harness\.adapters\.)?({'|'.join(FRAMEWORKS)})\b", re.MULTILINE
)
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """One block; `title` names the file that it is to be saved as, if it is one."""

    page: Path
    line: int
    language: str
    title: str | None
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def framework(self) -> str | None:
        """The package that it imports, in Python, if the tests' own environment lacks it."""
        found = _OF_FRAMEWORK.search(self.text) if self.language == "python" else None
        return found and found[1]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        language, _, rest = match["info"].strip().partition(" ")
        title = _TITLE.search(rest)
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(page, line, language, title[1] if title else None, match["text"]))
    return found


def every_block() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def commands(block: Block) -> list[str]:
    """The commands of a console block: continued lines joined, comments taken away."""
    joined = re.sub(r"\\\n\s*", "", block.text)
    lines = (re.sub(r"(^|\s)#\s.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line]
