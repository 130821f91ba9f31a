"""Sections of the documentation, made of the files that commands write: of nothing that only a process knows.

What is renewed is of a whole set. Sections hold counts, question ids and reasons, and nothing of the data.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.overrides import digest
from harness.analyses.coverage import expectations
from harness.analyses.coverage.command import CoverageRequest
from harness.data.outcomes import GoldOrigin
from harness.data.sets.loader import load_set
from harness.engines import TITLES, served
from harness.report.texts import markdown_line
from loaders.base.files import read_json, read_text
from loaders.base.paths import FIGURES

DOCS = FIGURES.parents[1] / "docs" / "measurements"

WITH_TEXT = frozenset({"sample"})
"""The question sets whose translations are kept as text, too: others are adapted from data under CC BY-SA."""

THREADS_OF = "dev"
"""The question set whose ids public threads name."""

MOST_ROWS = 45
"""Of a table of a study on the page; longer ones are in its folder."""

Record = Mapping[str, Any]
Section = tuple[str, str, str]
"""The page, the name of the section on it, and its text."""


def renew(folder: Path, docs: Path = DOCS, home: Path = expectations.HOME) -> list[Path]:
    """Renew what the documentation says of what a folder holds; coverage becomes what is expected.

    Args:
        folder: of `audit`, `chance`, `coverage` or `study`, or the run folder of `gap`.
        docs: where the pages are.
        home: where the expectations are.

    Returns:
        The files that were written.

    Raises:
        BadInput: the folder holds none of these, or a part of a set, or a page has no section for it.
    """
    for name, sections in _SECTIONS.items():
        if (folder / name).is_file():
            record = _record(folder / name)
            written = []
            for page, section, text in sections(folder, record):
                replace_section(docs / page, section, text)
                written.append(docs / page)
            if sections is coverage_sections and _is_expected(record):
                written.append(write_expectations(record["set"], record["answers"], home))
            return written
    raise BadInput(f"{folder}: holds nothing that a page shows; name one with {', '.join(_SECTIONS)}")


def _record(path: Path) -> Any:
    return read_json(read_text(path))


def _text(path: Path) -> str:
    """A page of Markdown without its title."""
    return read_text(path).text.partition("\n")[2].strip()


def replace_section(path: Path, name: str, text: str) -> None:
    """Write the section of that name anew; the rest of the page stays.

    Raises:
        BadInput: the page cannot be read, or has no such section.
    """
    first, last = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    page = read_text(path).text
    before, found, rest = page.partition(first)
    _, closed, after = rest.partition(last)
    if not (found and closed):
        raise BadInput(f"{path}: has no section '{first} ... {last}'; add it where the figures are to stand")
    path.write_text(f"{before}{first}\n{text}{last}{after}", encoding="utf-8")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return list(map(markdown_line, (heads, ["---"] * len(heads), *rows)))


# --- coverage


def coverage_sections(folder: Path, record: Record) -> Iterator[Section]:
    """The counts, and the reasons of what is not SQLite's answer."""
    questions, origin, profile = load_set(record["set"]), GoldOrigin(record["gold"]), record["profile"]
    wanted = {
        (kind.name, question.key)
        for kind in served()
        if kind.by_default
        for question in questions.questions
        if origin is not GoldOrigin.DATASET or kind.name in question.gold
    }
    measured = {(one["dialect"], one["question"]) for one in record["answers"]}
    if missing := wanted - measured:
        raise BadInput(f"{folder}: {len(missing)} golds are not in it; start both servers, leave out --limit")
    if "pack" in record:
        raise BadInput(f"{folder}: is of a gold pack; measure the set's own golds")
    words = ["bird-harness", "coverage", "--set", record["set"]]
    words += ["--gold", origin] if origin is not GoldOrigin.TRANSLATED else []
    words += ["--profile", profile] if profile != CoverageRequest(origin=origin).loaded_as else []
    versions = ", ".join(f"{name} {about['version']}" for name, about in record["engines"].items())
    # The last column of the reasons quotes the data.
    lines = [_DETAIL.sub(r"\1", line) for line in _text(folder / "coverage.md").splitlines()]
    published = ", published" if origin is GoldOrigin.DATASET else ""
    text = "\n".join([f"`{' '.join(words)}`, {versions}:", "", *lines, ""])
    yield "coverage.md", f"{record['set']}, {profile}{published}", text


_DETAIL = re.compile(r"^((?:\| [^|]* ){3}\| (?:`\w+`|reason) \||(?:\|---){4}(?=\|---\|$)\|).*")


def _is_expected(record: Record) -> bool:
    return (record["gold"], record["profile"]) == (GoldOrigin.TRANSLATED, CoverageRequest().loaded_as)


def write_expectations(question_set: str, answers: Sequence[Record], home: Path) -> Path:
    """Make answers, of the whole set on every server, what is expected of them from now on.

    Returns:
        The file; for some sets the translations stand beside it as text, too.
    """
    parts = []
    for target in dict.fromkeys(one["dialect"] for one in answers):
        entries = [
            f"    {json.dumps(one['question'])}: {json.dumps(_expected(one))}"
            for one in answers
            if one["dialect"] == target
        ]
        parts.append(f'  "{target}": {{\n' + ",\n".join(entries) + "\n  }")
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"{question_set}.json"
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    for one in answers if question_set in WITH_TEXT else ():
        translation = home / question_set / one["dialect"] / f"{one['question']}.sql"
        translation.parent.mkdir(parents=True, exist_ok=True)
        if one["sql"] is None:
            translation.unlink(missing_ok=True)
        else:
            translation.write_text(f"{one['sql']}\n", encoding="utf-8")
    return path


def _expected(answer: Record) -> list[str | None]:
    sql = answer["sql"]
    outcome = expectations.COVERED if answer["covered"] else answer["reason"]
    return [outcome, None if sql is None else digest(sql)]


# --- audit


def audit_sections(folder: Path, record: Record) -> Iterator[Section]:
    """The counts of each probe and the questions that it names; of BIRD dev, the threads beside it."""
    questions, golds = load_set(record["set"]), record["golds"]
    for dialect, count in golds.items():
        whole = sum(
            1 + len(one.more_gold.get(Dialect(dialect), ()))
            for one in questions.questions
            if dialect in one.gold
        )
        if count != whole:
            raise BadInput(f"{folder}: {count} of {whole} golds for {dialect} were read; leave out --limit")
    if "pack" in record:
        raise BadInput(f"{folder}: is of a gold pack; audit the set's own golds")
    if missing := [one["name"] for one in record["probes"] if not one.get("asked", True)]:
        raise BadInput(f"{folder}: is without {', '.join(missing)}; leave out --probe")
    # Behind the counts are the findings with their rows.
    counts = _text(folder / "audit.md").partition("\n## ")[0].strip()
    command = f"bird-harness lab audit --set {record['set']} --dialect {','.join(golds)}"
    listed = "\n".join(_questions_found(record))
    yield "gold-audit.md", record["set"], f"`{command}`:\n\n{counts}\n\n{listed}\n"
    if record["set"] == THREADS_OF:
        yield "gold-audit.md", "threads", threads(record["findings"])


def _questions_found(record: Record) -> list[str]:
    """The questions of each probe: hints in parentheses, what follows from synthetic rows with a star."""
    rows = []
    for probe in record["probes"]:
        for dialect in record["golds"]:
            found = [
                f"({_starred(one, 'question')})" if one["hint"] else _starred(one, "question")
                for one in record["findings"]
                if one["probe"] == probe["name"] and one["dialect"] == dialect
            ]
            if found:
                rows.append([probe["name"], TITLES[dialect], ", ".join(dict.fromkeys(found))])
    return _table(["probe", "engine", "questions"], rows)


def _starred(finding: Record, what: str) -> str:
    return f"{finding[what]}\\*" if finding["synthetic"] else finding[what]


def threads(findings: Sequence[Record]) -> str:
    """The defects of public threads one by one, and which of them probes have found, as Markdown.

    `threads.json` has the defects that users have named, in our own words, with the probes that look for
    such a fault.
    """
    known = _record(FIGURES / "judged" / "threads.json")
    lines = ["| thread | question | defect | found by |", "|---|--:|---|---|"]
    count = 0
    for one in known["read"]:
        found = {
            each["probe"]: _starred(each, "probe")
            for each in findings
            if each["question_id"] == one["question"] and each["probe"] in one["probes"]
        }
        count += bool(found)
        looked = f"not found here ({', '.join(one['probes'])})" if one["probes"] else "-"
        said = ", ".join(found.values()) or looked
        lines.append(f"| {one['thread']} | {one['question']} | {one['defect']} | {said} |")
    lines += ["", f"Found: {count} of {len(known['read'])}. Not looked up:", ""]
    return "\n".join([*lines, *(f"- {line}" for line in known["unread"]), ""])


# --- gap


def gap_sections(folder: Path, record: Record) -> Iterator[Section]:
    """Every table, how many questions are not decided, and what reading says of sixty explanations."""
    questions = len(load_set(record["set"]).questions)
    engines = {one["dialect"] for one in record["gaps"]}
    wanted = sum(kind.by_default for kind in served())
    if any(one["questions"] != questions for one in record["gaps"]) or len(engines) != wanted:
        raise BadInput(f"{folder}: is of a part; leave out --limit, --dialect and the like")
    tables = f"\n{_text(folder / 'gap.md')}\n".replace("\n## ", "\n### ")
    total = len(record["questions"])
    undecided = sum(one["cause"] == "undecided" for one in record["questions"])
    share = 100 * undecided / total if total else 0.0
    counted = f"{total} questions differ; {undecided} are not decided ({share:.1f} %)."
    yield "dialect-gap.md", record["set"], f"{tables}\n{counted}\n"
    yield "dialect-gap.md", "judged", judged_explanations(record)


def judged_explanations(record: Record) -> str:
    """The judged explanations, as Markdown; those whose cause is another one now are said to be.

    `judged/gap.json` is a list of explanations that somebody has judged by reading texts and rows: predictor,
    engine, question, the cause that was decided, whether it is right, and why in a few words.
    """
    judged = _record(FIGURES / "judged" / "gap.json")
    now = {(one["predictor"], one["dialect"], one["question"]): one["cause"] for one in record["questions"]}
    rows, right = [], 0
    for one in judged:
        is_same = now.get((one["predictor"], one["dialect"], one["question"]), one["cause"]) == one["cause"]
        right += one["right"] and is_same
        said = ("right" if one["right"] else "wrong") if is_same else "decided otherwise now"
        title = record["causes"][one["cause"]]["title"]
        rows.append([one["question"], one["predictor"], TITLES[one["dialect"]], title, said, one["why"]])
    share = f" ({100 * right / len(judged):.0f} %)" if judged else ""
    table = _table(["question", "predictor", "engine", "cause", "judged", "why"], rows)
    return "\n".join([f"{right} of {len(judged)} are right{share}.", "", *table]) + "\n"


# --- study


def study_sections(folder: Path, record: Record) -> Iterator[Section]:
    """The shorter tables of each part, below the command that makes them."""
    facts, *tables = f"\n{_text(folder / 'tables.md')}".split("\n## ")
    halves = (word.partition("=") for word in record["command"])
    command = " ".join(f"{option}{equals}{Path(value).name}" for option, equals, value in halves)
    for part in record["parts"]:
        own = [table.strip() for table in tables if table.startswith(f"{part.upper()}: ")]
        short = [one for one in own if sum(map(_is_row, one.splitlines())) - 2 <= MOST_ROWS]
        text = "\n\n".join([facts.strip(), *(f"#### {one}" for one in short)])
        longer = "; ".join(one.partition("\n")[0] for one in own if one not in short)
        more = f"\n\nIn the folder of the study, too: {longer}." if longer else ""
        yield "efficiency.md", part, f"`{command}`:\n\n{text}{more}\n"


def _is_row(line: str) -> bool:
    return line.startswith("|")


# --- chance


def chance_sections(folder: Path, record: Record) -> Iterator[Section]:
    """All tables but the list of witnesses, below the command."""
    if record["questions"]:
        raise BadInput(f"{folder}: is of some questions; leave out --question")
    _, *tables = f"\n{_text(folder / 'tables.md')}".split("\n## ")
    command = " ".join(["bird-harness lab chance RUN", *record["command"][4:]])
    shown = "\n\n".join(f"#### {one.strip()}" for one in tables if not one.startswith("Witnesses\n"))
    yield "coverage.md", "chance", f"`{command}`:\n\n{shown}\n"


_SECTIONS: Mapping[str, Callable[[Path, Record], Iterator[Section]]] = {
    "coverage.json": coverage_sections,
    "audit.json": audit_sections,
    "chance.json": chance_sections,
    "gap.json": gap_sections,
    "study.json": study_sections,
}
