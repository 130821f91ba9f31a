"""What a long run found, as Markdown: counts, constructs, and one small query for each kind of fault."""

from collections import defaultdict
from collections.abc import Iterator

from dialects.enums import Dialect
from harness.labs.conformance.comparison import QueryVerdict
from tests.fuzz.campaign import MOST_UNTRANSLATABLE, Fault, Result
from tests.fuzz.tree import TAGS

_EXAMPLES = 3
_BRIEF_GROUPS = 12
_REASONS = 40


def report(result: Result, seed: int, seconds: float, *, brief: bool = False) -> str:
    """The report of a run; `brief` leaves out the tables of constructs and most faults."""
    rate, refused = result.queries / max(seconds, 1e-9), sum(result.invalid.values())
    lines = [
        "# Generated queries",
        "",
        f"Seed {seed}: {result.queries:,} queries in {seconds:.0f} s ({rate:.0f} a second).",
        f"SQLite refused {refused:,}; {result.share_with_rows:.1%} of the others have rows.",
        "",
        *_totals(result),
        *_faults(result, brief=brief),
    ]
    if not brief:
        lines += [*_reasons(result), *_constructs(result), *_refused(result)]
    return "\n".join(lines) + "\n"


def _totals(result: Result) -> Iterator[str]:
    yield "| target | " + " | ".join(QueryVerdict) + " |"
    yield "|---" * (len(QueryVerdict) + 1) + "|"
    for target in Dialect:
        counts = [result.verdicts[target, verdict] for verdict in QueryVerdict]
        if any(counts):
            share = result.untranslatable(target)
            mark = "" if share <= MOST_UNTRANSLATABLE else " (too many)"
            shown = [f"{count:,}" for count in counts]
            shown[list(QueryVerdict).index(QueryVerdict.UNTRANSLATABLE)] += f", {share:.1%}{mark}"
            yield f"| {target} | " + " | ".join(shown) + " |"
    yield ""


def _faults(result: Result, *, brief: bool) -> Iterator[str]:
    groups: dict[str, list[Fault]] = defaultdict(list)
    for fault in result.faults:
        groups[fault.group].append(fault)
    ranked = sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    yield f"## {len(result.faults):,} faults in {len(groups):,} groups"
    yield ""
    for group, faults in ranked[: _BRIEF_GROUPS if brief else None]:
        yield f"### {len(faults):,} x {group}"
        for fault in sorted(faults, key=lambda fault: len(fault.sql))[: 1 if brief else _EXAMPLES]:
            yield f"- {fault.number} on {fault.db_id}: `{fault.sql}`"
            yield f"  - {fault.checked.detail}"
            if fault.checked.translation and not brief:
                yield f"  - `{fault.checked.translation}`"
        yield ""


def _reasons(result: Result) -> Iterator[str]:
    yield "## Why there was no translation"
    yield ""
    for (target, reason), count in result.reasons.most_common(_REASONS):
        yield f"- {count:,} x {target}: {reason}"
    yield ""


def _constructs(result: Result) -> Iterator[str]:
    yield "## Constructs"
    yield ""
    yield "| construct | generated | " + " | ".join(QueryVerdict) + " |"
    yield "|---" * (len(QueryVerdict) + 2) + "|"
    for tag in sorted(TAGS):
        counts = [result.by_tag[tag, verdict] for verdict in QueryVerdict]
        yield f"| {tag} | {result.generated[tag]:,} | " + " | ".join(f"{count:,}" for count in counts) + " |"
    yield ""


def _refused(result: Result) -> Iterator[str]:
    yield "## What SQLite refused"
    yield ""
    for words, count in result.invalid.most_common(_REASONS):
        yield f"- {count:,} x {words}"
