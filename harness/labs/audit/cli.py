"""The command that looks for wrong and unclear golds."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.cli.commands import app
from harness.cli.console import Dialects, Limit, SetName, Threads, messages, one_of_each, say, servers_up
from harness.data.gold_packs import PUBLISHED
from harness.labs.audit.annotation import Compared, compare_annotations, lines_of
from harness.labs.audit.command import AuditRequest, audit, pack_of
from harness.labs.audit.probes import PROBES, chosen
from harness.labs.audit.tables import as_record, print_audit, write_audit
from harness.report.console import loading_bar, print_line, wide
from harness.report.files import write
from harness.session.request import check_range, parse_dialects, refuse_unwritable
from loaders.base.files import as_json
from loaders.base.processes import processors


@app.command("audit")
def audit_golds(  # noqa: PLR0913 - one parameter an option
    *,
    set_name: SetName = "sample",
    dialect: Dialects = "sqlite",
    probe: Annotated[
        str, typer.Option(metavar="NAMES", help=f"Separated by commas: {', '.join(PROBES)}. Default: all.")
    ] = "",
    gold: Annotated[
        str, typer.Option(metavar="PACK", help="Gold pack to audit instead of the published golds.")
    ] = PUBLISHED,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="PACK", help="Compare the rows of this pack's golds with --gold's; exits 1 if any differ."
        ),
    ] = None,
    witnesses: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="With --against: search small databases on which golds differ, into FOLDER.",
        ),
    ] = None,
    limit: Limit = None,
    workers: Threads = None,
    out: Annotated[Path, typer.Option(help="Folder to create the audit's folder in.")] = Path("results"),
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Continue the audit in this folder, with its options."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the findings as JSON and write no folder.")
    ] = False,
    pack: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a gold pack from the findings judged right.")
    ] = None,
    judged: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Judgements of findings. Default: those of the checkout."),
    ] = None,
) -> None:
    """Audit gold SQL for likely errors; writes the evidence and a page to review it."""
    check_range("limit", limit)
    check_range("workers", workers, unit="threads")
    probes = chosen(probe)
    servers = {} if parse_dialects(dialect) == [Dialect.SQLITE] else servers_up(dialect)
    asked = parse_dialects(dialect)
    dialects = [
        each
        for each in Dialect
        if each in servers or (each is Dialect.SQLITE and (asked is None or each in asked))
    ]
    _check_against(against, resume, witnesses)
    parent = None if json else out
    request = AuditRequest(
        set_name, dialects, probes, limit, gold, workers or processors(), judged, parent, resume
    )
    with loading_bar(messages) as progress:
        if against is not None:
            compared = compare_annotations(
                request, (gold, against), one_of_each(servers), progress, witnesses
            )
        else:
            audited = audit(request, one_of_each(servers), progress, console=messages, say=say)
    if against is not None:
        _print_compared(compared, as_record=json)
        raise typer.Exit(1 if compared.disagreements else 0)
    for note in audited.notes:
        say(note)
    if pack is not None:
        found = pack_of(audited.questions.name, audited.findings, audited.judged)
        if not found["golds"]:
            raise BadInput("--pack: no finding of this audit is judged; decide on its page instead")
        write(pack, as_json(found, indent=2) + "\n")
        say(f"{pack}: {len(found['golds'])} golds; `--gold {pack}` scores with them")
    if json:
        print(as_json(as_record(audited), indent=2))  # noqa: T201 - the answer itself
        return
    print_audit(audited)
    if audited.folder is not None:
        write_audit(audited.folder, audited)
        say(f"written to {audited.folder}; audit.html is the page to decide on")


def _check_against(against: str | None, resume: Path | None, witnesses: Path | None) -> None:
    """Reject options that do not go with `--against`, or not without it."""
    if against is not None and resume is not None:
        raise BadInput("--resume: continues an audit, and --against is not one; leave out one of the two")
    if witnesses is not None:
        if against is None:
            raise BadInput("--witnesses: is for two packs; name the other with --against")
        refuse_unwritable("--witnesses", witnesses)


def _print_compared(compared: Compared, *, as_record: bool) -> None:
    """Print what two sides do not agree on."""
    if as_record:
        print(as_json(asdict(compared), indent=2))  # noqa: T201 - the answer itself
        return
    for line in lines_of(compared):
        print_line(wide(), line)
