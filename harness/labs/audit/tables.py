"""Findings as tables: on the console, as Markdown and as JSON; computed from the findings alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from harness.analyses.bench import synthetic_databases
from harness.data.descriptions import MARKED, WINDOWS
from harness.data.published_sets import provenance_counts
from harness.engines import TITLES
from harness.labs.audit.command import Audited, precision
from harness.labs.audit.gold import FoundIn
from harness.labs.audit.probes import PROBES, Probe
from harness.report.console import new_table, print_line, print_table, wide
from harness.report.files import write
from harness.report.html.page import embedded, own_page
from harness.report.texts import markdown_line
from loaders.base.files import as_json

SCHEMA_VERSION = 1
"""Version of `audit.json`; docs/how-to/gold.md describes it."""

MARKDOWN, JSON, HTML = "audit.md", "audit.json", "audit.html"

SYNTHETIC = "on synthetic rows"
"""The remark on findings that follow from rows other than the published ones."""


def each_probe(findings: Sequence[FoundIn]) -> Iterator[tuple[Probe, Sequence[FoundIn]]]:
    """Yield the probes with what they found, in the order of the table."""
    for probe in PROBES.values():
        yield probe, [one for one in findings if one.finding.probe == probe.name]


def print_audit(audited: Audited) -> None:
    """Print each finding in a line, then the counts."""
    console = wide()
    for one in audited.findings:
        print_line(console, said(one))
    table = new_table(f"Findings in the golds of {audited.questions.name}")
    for head in _heads(audited):
        table.add_column(head, justify="left" if head in {"probe", "finds"} else "right")
    for row in _rows(audited):
        table.add_row(*row)
    print_table(console, table)
    for line in remarks(audited):
        print_line(console, line)


def said(one: FoundIn) -> str:
    """Return a finding in a line."""
    marks = [
        str(one.finding.severity),
        *(["hint"] if one.finding.hint else []),
        *([SYNTHETIC] if one.synthetic else []),
    ]
    where = f"{TITLES[one.dialect]} {one.question} ({one.db_id})"
    return f"{where}: {one.finding.probe} [{', '.join(marks)}]: {one.finding.says}"


def remarks(audited: Audited) -> list[str]:
    """Return the remarks that the counts need."""
    lines = [f"{TITLES[dialect]}: {count} golds read." for dialect, count in audited.golds.items()]
    if audited.unread:
        names = ", ".join(f"{key} ({TITLES[dialect]})" for dialect, key in audited.unread)
        lines.append(f"Not read by probes of texts, which cannot parse them: {names}.")
    lines += description_lines(audited)
    marked = sum(one.synthetic for one in audited.findings)
    if marked:
        lines.append(
            f"{marked} of {len(audited.findings)} findings follow from synthetic rows:"
            f" {provenance_counts(audited.provenance)}."
        )
    return lines


def description_lines(audited: Audited) -> list[str]:
    """Return what the description files say of their databases: counts of each, then each fault."""
    lines = []
    for db_id, files in audited.descriptions.items():
        found = [(name, files.encodings[name]) for name in (MARKED, WINDOWS) if name in files.encodings]
        others = "".join(f", {number} in {name}" for name, number in found)
        parts = [
            f"{files.described} of {files.columns} columns described",
            f"{len(files.faults)} strays" if files.faults else "no strays",
            f"{sum(files.encodings.values())} files{others}",
        ]
        lines.append(f"Descriptions of {db_id}: {', '.join(parts)}.")
        lines += [" ".join(each.split()) for each in files.faults]
    return lines


def _heads(audited: Audited) -> list[str]:
    return [
        "probe",
        "finds",
        "severity",
        "basis",
        *(TITLES[each] for each in audited.golds),
        "hints",
        "precision",
        "of hints",
    ]


def _rows(audited: Audited) -> Iterator[list[str]]:
    for probe, found in each_probe(audited.findings):
        sure = [one for one in found if not one.finding.hint]
        hints = [one for one in found if one.finding.hint]
        yield [
            probe.name,
            probe.finds,
            probe.severity,
            probe.basis,
            *(str(_golds(sure, dialect)) for dialect in audited.golds),
            str(len(hints)),
            str(precision(sure, audited.judged)),
            str(precision(hints, audited.judged)),
        ]


def _golds(findings: Sequence[FoundIn], dialect: Dialect) -> int:
    return len({one.question for one in findings if one.dialect == dialect})


def markdown(audited: Audited) -> str:
    """Return the counts, and each finding with its rows, as Markdown."""
    heads = _heads(audited)
    lines = [markdown_line(heads), "|---" * len(heads) + "|", *map(markdown_line, _rows(audited))]
    return "\n".join([*lines, "", *remarks(audited), "", *_details(audited)]) + "\n"


def _details(audited: Audited) -> list[str]:
    lines = []
    for one in audited.findings:
        lines += [f"## {one.question}, {TITLES[one.dialect]}: {one.finding.probe}", "", said(one), ""]
        lines += [f"> {_cell(one.text)}", ""] if one.text.strip("? ") else []
        lines += ["```sql", one.sql.strip(), "```", ""]
        for evidence in one.finding.evidence:
            lines += [
                f"- {_cell(evidence.title)}:",
                *(f"    - {_cell(', '.join(row))}" for row in evidence.rows),
            ]
        if one.finding.suggestion:
            lines += ["", "Suggested, and run:", "", "```sql", one.finding.suggestion, "```"]
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def as_record(audited: Audited) -> Mapping[str, Any]:
    """Return the content of `audit.json`."""
    known = audited.judged
    return {
        "schema_version": SCHEMA_VERSION,
        "set": audited.questions.name,
        "set_files": audited.questions.files,
        **({"pack": asdict(audited.questions.pack)} if audited.questions.pack else {}),
        "golds": dict(audited.golds),
        "synthetic_databases": sorted(synthetic_databases(audited.provenance)),
        "probes": [
            {
                "name": probe.name,
                "finds": probe.finds,
                "shown": probe.shown,
                "severity": probe.severity,
                "basis": probe.basis,
                "asked": probe in audited.probes,
                "findings": len(found),
                "precision": vars(precision([one for one in found if not one.finding.hint], known)),
                "precision_of_hints": vars(precision([one for one in found if one.finding.hint], known)),
            }
            for probe, found in each_probe(audited.findings)
        ],
        "findings": [one.to_json() for one in audited.findings],
        "descriptions": {db_id: asdict(files) for db_id, files in audited.descriptions.items()},
    }


def write_audit(folder: Path, audited: Audited) -> None:
    """Write `audit.md`, `audit.json` and `audit.html` into a folder, over those that are there.

    Raises:
        BadInput: the folder can't be written.
    """
    write(folder / MARKDOWN, f"# Findings in the golds of {audited.questions.name}\n\n{markdown(audited)}")
    write(folder / JSON, as_json(as_record(audited), indent=2) + "\n")
    write(folder / HTML, page(audited))


# The page on which a person decides about findings: one file, which asks for nothing from outside.
#
# Decisions stay in the browser until they are downloaded as a gold pack. Data are in the page as JSON
# without a character that markup is made of; script and style are named by their digests in the page's
# policy.


def page(audited: Audited) -> str:
    """Return the page of an audit."""
    title, data = f"Golds of {audited.questions.name}", embedded(_content(audited))
    return own_page("harness.labs.audit", title=title, data=data)


def _content(audited: Audited) -> Any:
    shared = Counter(question.question_id for question in audited.questions.questions)
    return {
        "set": audited.questions.name,
        "probes": {probe.name: probe.finds for probe in PROBES.values()},
        "findings": [_entry(one, is_shared=shared[one.question_id] > 1) for one in audited.findings],
    }


def _entry(one: FoundIn, *, is_shared: bool) -> Any:
    key = one.question if "#" in one.question else f"{one.question}#1"
    return {
        **one.to_json(),
        "engine": TITLES[one.dialect],
        "pack_id": key if is_shared else one.question_id,
    }
