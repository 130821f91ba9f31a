"""Phrases that README, documentation, help texts and docstrings do not use, each with what to write instead.

They are inversions, riddles and words of another language's order that the pages had. A page says a thing as
the field says it: verb first, active voice, one idea a sentence.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs.blocks import PAGES, ROOT
from tests.docs.reference.written import WRITTEN

INSTEAD: Mapping[str, str] = {
    r"\b(?:hold|holds|held|holding)\b[^.|]{0,60}\bagainst\b": "compare with",
    r"\bof which\b": "two sentences",
    r"\bis what\b": "name the thing",
    r"\bwhat is (?:known|there)\b": "name the thing",
    r"\b(?:come|comes|came)\s+to\b": "results in, is",
    r"\b(?:come|comes|came)\s+out\b": "the result is",
    r"\b(?:come|comes)\s+along\b|\bbrings?\s+along\b": "bundled",
    r"\bstands?\b(?!\s+for\b)": "is",
    r"\bbeside\b": "next to, with",
    r"\bbroken\s+off\b|\bbr(?:eaks?|oke)\s+off\b": "interrupted",
    r"\bgo(?:es)?\s+on\b": "continue",
    r"\bseldom\b": "rarely",
    r"\bwithout a word\b": "silently",
    r"\bnothing but\b": "only",
    r"\btold\s+(?:apart|from)\b|\btells?\b[^.|]{1,30}\bapart\b": "distinguish",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bforet(?:ells?|old)\b": "predict",
    r"\bmade[ -]up\b": "synthetic, generated",
    r"\b(?:is|are)\s+said\b": "is printed, a line says",
    r"\bsays? nothing of\b": "does not tell",
    r"\bone after the other\b": "in order, in turn",
    r"\b(?:to|can)\s+be\s+had\b": "available",
    r"\bas ever\b": "as usual",
    r"\bin the place of\b": "instead of",
    r"\b(?:line|file|row|table) an? (?:question|pair|engine|database|text)\b": "for each",
}
"""A closed list of patterns, in any case, and what to write instead."""

_CODE = re.compile(r"^(```+).*?^\1[ \t]*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign
_MEASURED = re.compile(r"<!-- begin: .*?<!-- end: ", re.DOTALL)


def prose(text: str) -> str:
    """A page without code and without what commands write into it; lines keep their numbers."""
    for part in (_MEASURED, _CODE):
        text = part.sub(lambda found: "\n" * found[0].count("\n"), text)
    return text


def faults(text: str) -> Iterator[str]:
    """The phrases of a page that are on the list, each with its line and with what to write."""
    said = prose(text)
    for pattern, instead in INSTEAD.items():
        for found in re.finditer(pattern, said, re.IGNORECASE):
            line = said.count("\n", 0, found.start()) + 1
            yield f"line {line}: {' '.join(found[0].split())!r}: write {instead!r}"


def purposes(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the first paragraph of each docstring of a module, those of attributes too, with its line."""
    for node in ast.walk(ast.parse(module.read_bytes())):
        body = getattr(node, "body", ())
        for before, each in zip([node, *body], body, strict=False) if isinstance(body, list) else ():
            if (
                isinstance(before, _DOCUMENTED)
                and isinstance(each, ast.Expr)
                and isinstance(each.value, ast.Constant)
                and isinstance(each.value.value, str)
            ):
                yield each.lineno, each.value.value.partition("\n\n")[0]


def checked() -> list[Path]:
    """The pages, those that are written from help texts and docstrings among them."""
    return [*PAGES, ROOT / "SECURITY.md", ROOT / "docker" / "README.md"]


def is_written(page: Path) -> bool:
    """Whether a page is made of the code."""
    return page.read_text(encoding="utf-8").startswith(WRITTEN)


def name(page: Path) -> str:
    """A page as messages call it."""
    return page.relative_to(ROOT).as_posix()
