"""The page of the project's documentation that says what the probes find in published golds."""

from pathlib import Path

from dialects.errors import BadInput
from harness.audit.command import Audited, AuditRequest
from harness.audit.probes import PROBES
from harness.audit.rendering import markdown
from harness.coverage.rendering import replace_section

PAGE = Path(__file__).parents[2] / "docs" / "gold-audit.md"


def update_page(request: AuditRequest, audited: Audited) -> None:
    """Write the section of a set anew.

    Raises:
        BadInput: a part of the set or of the probes was asked for, or the page has no such section.
    """
    if request.limit is not None or len(request.probes) < len(PROBES):
        raise BadInput("--update: needs every question and every probe; leave out --limit and --probe")
    name = audited.questions.name
    command = f"bird-harness audit --set {name} --dialect {','.join(audited.golds)} --update"
    replace_section(PAGE, name, f"`{command}`:\n\n{markdown(audited, details=False)}")
