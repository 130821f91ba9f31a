"""The page of the project's documentation that says what the probes find in published golds.

`threads.json` has the defects that users have named in public threads, in our own words, with the probes that
look for such a fault.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialects.errors import BadInput
from harness.audit.command import Audited, AuditRequest
from harness.audit.gold import FoundIn
from harness.audit.probes import PROBES
from harness.audit.rendering import markdown
from harness.data.gold_packs import PUBLISHED
from loaders.base.files import replace_section

PAGE = Path(__file__).parents[2] / "docs" / "gold-audit.md"
THREADS: Mapping[str, Any] = json.loads(Path(__file__).with_name("threads.json").read_text(encoding="utf-8"))

_OF_THREADS = "dev"
"""The question set whose ids the threads name."""


def update_page(request: AuditRequest, audited: Audited, page: Path = PAGE) -> None:
    """Write the section of a set anew, and with BIRD dev that of the threads.

    Raises:
        BadInput: a part of the set or of the probes was asked for, or the page has no such section.
    """
    check_whole(request)
    name = audited.questions.name
    command = f"bird-harness audit --set {name} --dialect {','.join(audited.golds)} --update"
    replace_section(page, name, f"`{command}`:\n\n{markdown(audited, details=False)}")
    if name == _OF_THREADS:
        replace_section(page, "threads", threads(audited.findings))


def check_whole(request: AuditRequest) -> None:
    """Refuse to renew the page with a part of what it shows.

    Raises:
        BadInput: a part of the set, of the probes, or a pack was asked for.
    """
    if (
        request.limit is not None
        or len(request.probes) < len(PROBES)
        or request.gold not in {None, PUBLISHED}
    ):
        raise BadInput(
            "--update: needs every question, every probe and published golds; leave out --limit and the like"
        )


def threads(findings: Sequence[FoundIn]) -> str:
    """The defects of public threads one by one, and which of them the probes have found, as Markdown."""
    lines = ["| thread | question | defect | found by |", "|---|--:|---|---|"]
    count = 0
    for one in THREADS["read"]:
        found = {
            each.finding.probe: f"{each.finding.probe}{chr(92) + '*' if each.synthetic else ''}"
            for each in findings
            if each.question_id == one["question"] and each.finding.probe in one["probes"]
        }
        count += bool(found)
        looked = f"not found here ({', '.join(one['probes'])})" if one["probes"] else "-"
        said = ", ".join(found.values()) or looked
        lines.append(f"| {one['thread']} | {one['question']} | {one['defect']} | {said} |")
    lines += ["", f"Found: {count} of {len(THREADS['read'])}. Not looked up:", ""]
    return "\n".join([*lines, *(f"- {line}" for line in THREADS["unread"]), ""])
