"""The probes: a row for each kind of fault that can be found without knowing a right answer."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.analyses.coverage.answers import DifferenceReason
from harness.labs.audit import conditions, joins, order_probes, values
from harness.labs.audit.gold import AuditedGold, Evidence, Finding, FindingBasis, Severity


@dataclass(frozen=True)
class Probe:
    """A row: `find` reads one gold; `severity` and `basis` are those of most of its findings.

    `finds` says in a few words what it is that it finds, and `shown` what evidence it gives.
    """

    name: str
    finds: str
    shown: str
    severity: Severity
    basis: FindingBasis
    find: Callable[[AuditedGold], Iterable[Finding]]
    reads_text: bool = True
    """True if it needs a gold that can be parsed, and not only run."""

    def read(self, gold: AuditedGold) -> list[Finding]:
        """Yields the findings in a gold."""
        if self.reads_text and not gold.is_readable:
            return []
        return [replace(finding, probe=self.name) for finding in self.find(gold)]


def engines_disagree(gold: AuditedGold) -> Iterator[Finding]:
    """Find a server's published gold that returns other rows than SQLite's."""
    found = None if gold.comparison is None else gold.comparison()
    if (
        found is None
        or not found.runs
        or found.reason in {None, DifferenceReason.TIE, DifferenceReason.CLOCK}
    ):
        return
    digits = {DifferenceReason.DECIMAL_SCALE, DifferenceReason.PRECISION, DifferenceReason.FLOAT_SUM}
    evidence = [
        Evidence(title, tuple((row,) for row in rows))
        for title, rows in (("SQLite alone", found.only_sqlite), ("this engine alone", found.only_engine))
        if rows
    ]
    says = f"The gold returns other rows than SQLite's: {found.reason}."
    severity = Severity.LOW if found.reason in digits else Severity.HIGH
    yield Finding(says, tuple(evidence), severity=severity)


_COMPARED = re.compile(
    r"(?<![\w.'`(])`?([A-Za-z_]\w+)`?\s*(?:[!<>]?=\s*['\"\d]|[<>]\s*['\"\d]|LIKE\s|BETWEEN\s|IS\s+(?:NOT\s+)?NULL)"
    r"|\b(?:MAX|MIN|AVG|SUM)\s*\(\s*`?([A-Za-z_]\w+)`?\s*\)"
)
"""A column in the evidence of a question, as it is compared or aggregated there."""


def evidence_unread(gold: AuditedGold) -> Iterator[Finding]:
    """Find a column that the evidence compares and the gold, which has its table, does not read."""
    if gold.dialect != Dialect.SQLITE or not gold.question.evidence:
        return
    tables = [gold.query.table(node) for node in gold.tree.find_all(exp.Table)]
    there = {column.name for table in tables if table is not None for column in table.columns}
    read = {node.name.lower() for node in gold.tree.find_all(exp.Column)}
    if any(column.is_star for select in gold.selects for column in select.selects):
        return
    compared = dict.fromkeys(one or other for one, other in _COMPARED.findall(gold.question.evidence))
    missing = [name for name in compared if name in there and name.lower() not in read]
    if missing:
        yield Finding(
            f"The evidence compares {', '.join(missing)}, which is there and which the gold does not read.",
            severity=Severity.MEDIUM,
            basis=FindingBasis.TEXT,
        )


PROBES: Mapping[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe(
            "tie", "LIMIT cuts among equal sort keys", "the rows at the cut",
            Severity.HIGH, FindingBasis.ROWS, order_probes.cut_at_tie,
        ),
        Probe(
            "null-first", "NULL sorts first, and the cut keeps it", "the row, and the first without NULL",
            Severity.HIGH, FindingBasis.ROWS, order_probes.null_first,
        ),
        Probe(
            "text-order", "text that holds numbers, dates or times is sorted or compared as text",
            "two values whose order differs, and both answers",
            Severity.MEDIUM, FindingBasis.ROWS, order_probes.text_order,
        ),
        Probe(
            "storage-order", "the answer depends on how rows happen to be stored",
            "another choice of the same rows, another answer",
            Severity.HIGH, FindingBasis.ROWS, order_probes.storage_order,
        ),
        Probe(
            "fan-out", "a join repeats rows before SUM, AVG or COUNT",
            "both results, and a row that comes several times",
            Severity.HIGH, FindingBasis.ROWS, joins.fan_out,
        ),
        Probe(
            "integer-division", "a ratio of integers is cut off", "both values",
            Severity.HIGH, FindingBasis.ROWS, values.integer_division,
        ),
        Probe(
            "fails", "the gold returns no rows but an error, or takes too long", "the engine's words",
            Severity.HIGH, FindingBasis.ROWS, values.fails, reads_text=False,
        ),
        Probe(
            "empty", "the answer has no rows, or NULL alone", "the rows",
            Severity.HIGH, FindingBasis.ROWS, values.empty,
        ),
        Probe(
            "constant", "a condition or a join that decides nothing, a COUNT or SUM of the wrong thing",
            "the condition",
            Severity.HIGH, FindingBasis.TEXT, conditions.constant,
        ),
        Probe(
            "absent-literal", "a text that no row has, and that some row has spelled otherwise",
            "the nearest value",
            Severity.HIGH, FindingBasis.ROWS, values.absent_literal,
        ),
        Probe(
            "duplicates", "what is counted or listed comes several times", "both counts, or the rows",
            Severity.LOW, FindingBasis.ROWS, joins.duplicates,
        ),
        Probe(
            "clock", "the answer changes with the date", "the answers on two days",
            Severity.HIGH, FindingBasis.TEXT, values.clock,
        ),
        Probe(
            "float-order", "a sum in another order of its rows is another number", "both sums",
            Severity.MEDIUM, FindingBasis.ROWS, values.floating_order,
        ),
        Probe(
            "engines", "a server's published gold returns other rows than SQLite's", "rows side by side",
            Severity.HIGH, FindingBasis.ROWS, engines_disagree, reads_text=False,
        ),
        Probe(
            "broken-key", "a join by a declared key that the data repeat", "the repeated key",
            Severity.MEDIUM, FindingBasis.ROWS, joins.broken_key,
        ),
        Probe(
            "evidence-unread", "the evidence names a column that the gold does not read", "the column",
            Severity.MEDIUM, FindingBasis.TEXT, evidence_unread,
        ),
    )
}  # fmt: skip
"""By name, in the order of the tables."""


def chosen(names: str) -> list[Probe]:
    """Return the probes of a list of names, all with an empty one.

    Raises:
        BadInput: there is no probe of a name.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in PROBES:
            raise BadInput(f"--probe {name}: is not known; choose from {', '.join(PROBES)}")
    return [probe for probe in PROBES.values() if not wanted or probe.name in wanted]
