"""Renew docs/measurements/question-types.md: which question has which type, how often, and what reading says.

    python -m benchmarks.question_types dev.sql

The questions are Mini-Dev's; `dev.sql` has the golds of BIRD dev. The labels are
`figures/judged/question_types.json`, of 150 questions of Mini-Dev drawn at random. They were made by reading
question, evidence and gold with the definitions of the types, and without the rules' answers.
"""

import json
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures.pages import DOCS, replace_section
from dialects.enums import Dialect
from harness.data.published_scores import birds_paper
from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import TITLES
from harness.report.texts import markdown_line
from harness.sqltree.constructs import QuestionType
from harness.sqltree.question_types import question_types
from loaders.base.files import read_text
from loaders.base.paths import FIGURES

PAGE = DOCS / "question-types.md"
LABELS = FIGURES / "judged" / "question_types.json"

Types = Mapping[str, Sequence[str]]
"""The types of each question, by its id."""


def counts(
    questions: QuestionSet,
) -> tuple[Counter[QuestionType], Counter[QuestionType], Counter[QuestionType]]:
    """How many labelled questions have each type by the rules, by reading, and by both."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["types"]
    ruled, read, both = Counter[QuestionType](), Counter[QuestionType](), Counter[QuestionType]()
    for question in questions.questions:
        if question.key in labels:
            labelled = set(map(QuestionType, labels[question.key]))
            ruled.update(map(QuestionType, question.types))
            read.update(labelled)
            both.update(labelled.intersection(question.types))
    return ruled, read, both


def agreement(questions: QuestionSet) -> Iterator[str]:
    """Yield the table of precision and recall."""
    ruled, read, both = counts(questions)
    yield from ("| type | by reading | precision % | recall % |", "|---|--:|--:|--:|")
    for each in QuestionType:
        precision, recall = (100 * both[each] / max(1, total[each]) for total in (ruled, read))
        yield markdown_line([f"`{each}`", str(read[each]), f"{precision:.1f}", f"{recall:.1f}"])


def shares(mini_dev: Types, dev: Types) -> Iterator[str]:
    """Yield the table of shares in percent; of dev those that gold alone decides."""
    yield from ("| type | BIRD's paper | Mini-Dev | dev |", "|---|--:|--:|--:|")
    for printed in birds_paper().types:
        found = (
            100 * sum(printed.type in one for one in some.values()) / len(some) for some in (mini_dev, dev)
        )
        cells = [f"{share:.1f}" if share else "-" for share in (printed.share, *found)]
        yield markdown_line([f"`{printed.type}`", *cells])


def dialects(questions: QuestionSet) -> Iterator[str]:
    """Yield the questions to which another dialect's gold gives other types than SQLite's."""
    for dialect in (Dialect.MYSQL, Dialect.POSTGRESQL):
        differing = []
        for one in questions.questions:
            own = set(question_types(one.text, one.evidence, one.gold[dialect], dialect))
            if changed := own.symmetric_difference(one.types):
                differing.append(f"{one.key} ({', '.join(sorted(changed))})")
        yield f"- {TITLES[dialect]}: {len(differing)} of {len(questions.questions)}: {', '.join(differing)}"


def listed(types: Types) -> Iterator[str]:
    """Yield the ids of each type."""
    for each in QuestionType:
        if ids := [key for key, own in types.items() if each in own]:
            text = f"- `{each}` ({len(ids)}): {', '.join(_ranges(ids))}"
            yield textwrap.fill(text, 160, subsequent_indent="  ", break_on_hyphens=False)


def _ranges(ids: Iterable[str]) -> Iterator[str]:
    """Yield ids in numeric order, three or more in a row as a range."""
    run: list[str] = []
    ordered = sorted(ids, key=lambda key: (int(key.partition("#")[0]), key))
    for one, after in pairwise([*ordered, ""]):
        run.append(one)
        if not (one.isdecimal() and after.isdecimal() and int(after) == int(one) + 1):
            yield from run if len(run) <= 2 else [f"{run[0]}\N{EN DASH}{run[-1]}"]  # noqa: PLR2004 - a pair
            run = []


def main(dev: Annotated[Path, typer.Argument(help="File with the golds of BIRD dev: dev.sql.")]) -> None:
    """Renew every section of the page."""
    questions = load_set("mini_dev", questions_alone=True)
    mini_dev = {one.key: one.types for one in questions.questions}
    golds = [line.rpartition("\t")[0] for line in read_text(dev).text.rstrip("\n").split("\n")]
    of_dev = {str(key): question_types("", "", gold, Dialect.SQLITE) for key, gold in enumerate(golds)}
    sections = {
        "agreement": agreement(questions),
        "shares": shares(mini_dev, of_dev),
        "dialects": dialects(questions),
        "mini_dev": listed(mini_dev),
        "dev": listed(of_dev),
    }
    for name, lines in sections.items():
        replace_section(PAGE, name, "".join(f"{line}\n" for line in lines))
    print(PAGE)


if __name__ == "__main__":
    typer.run(main)
