"""Renew what docs/measurements/question-types.md has of published predictors: EX by type, groups of errors.

    python -m benchmarks.published_predictors PUBLISHED CHATGPT DEV

These are runs of the published predictors on Mini-Dev, and of ChatGPT without and with knowledge on Mini-Dev
and on BIRD dev. `figures/judged/error_groups.json` has the groups of 80 failed answers of the first two, in
two random draws of 40, made by reading with the paper's definitions, without the rules' answers.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.figures.pages import replace_section
from benchmarks.question_types import PAGE
from harness.analyses.error_groups import error_groups
from harness.data.published_scores import birds_paper
from harness.engines import TITLES
from harness.report.compare import CompareRequest, compare
from harness.report.documents import scores_of
from harness.report.overview import dialects_of
from harness.report.table_model import Document
from harness.report.texts import markdown_line, markdown_table
from harness.runs.reader import Run, key_of, read_labels, read_run
from harness.runs.summary import TOTAL, By, Key, Score, shares
from harness.sqltree.constructs import QuestionType
from harness.sqltree.diagnosis import ErrorGroup
from loaders.base.paths import FIGURES

LABELS = FIGURES / "judged" / "error_groups.json"
WITHOUT, WITH = "chatgpt", "chatgpt_knowledge"

Groups = Mapping[Key, ErrorGroup]


def by_type(run: Run) -> Iterator[str]:
    """Yield a table of EX for each engine: a row for each predictor, the best first."""
    labels = read_labels(run.folder, By.TYPE)
    heads = (TOTAL, *QuestionType)

    def cells(score: Score) -> Iterator[str]:
        found = shares(score.results, "ex", By.TYPE, labels)
        yield f"{score.metrics['ex'][TOTAL]:.1f}"
        yield from (f"{found[each].percent:.1f}" for each in QuestionType)

    counts = Counter(each for own in labels.values() for each in own)
    questions = ["questions", str(len(labels)), *(str(counts[each]) for each in QuestionType)]
    scores = sorted(scores_of(run), key=lambda score: -(score.metrics["ex"][TOTAL] or 0))
    yield from _tables(scores, ["predictor", *heads], [questions], cells)


def by_group(run: Run, groups: Groups) -> Iterator[str]:
    """Yield a table for each engine: percent of each predictor's failed answers in each group."""
    heads = ("failed", *ErrorGroup)
    printed = birds_paper().errors
    paper = ["*BIRD's paper*", "500", *(str(printed.get(each, "")) for each in ErrorGroup)]

    def cells(score: Score) -> Iterator[str]:
        found = Counter(groups[key] for result in score.results if (key := key_of(result)) in groups)
        yield str(found.total())
        yield from (f"{100 * found[each] / found.total():.1f}" for each in ErrorGroup)

    yield from _tables(scores_of(run), ["predictor", *heads], [paper], cells)


def _tables(
    scores: Sequence[Score],
    heads: Sequence[str],
    first: Iterable[Sequence[str]],
    cells: Callable[[Score], Iterable[str]],
) -> Iterator[str]:
    """Yield a table for each engine, below its title."""
    for dialect in dialects_of(scores):
        yield from (f"**{TITLES[dialect]}**", "")
        yield markdown_line([head.replace("_", " ") for head in heads])
        yield "|---" + "|--:" * (len(heads) - 1) + "|"
        yield from map(markdown_line, first)
        for score in scores:
            if score.dialect == dialect:
                yield markdown_line([score.predictor, *cells(score)])
        yield ""


def gain(run: Run) -> Iterator[str]:
    """Yield what knowledge is worth, as `compare --by type --metrics ex --format markdown` prints it."""
    a, b = (f"{run.folder}:{one}" for one in (WITHOUT, WITH))
    shown: list[Document] = []
    compare(CompareRequest(a, b, metrics=["ex"], by=By.TYPE), print, show=shown.append)
    [grid] = shown[0].grids
    yield from markdown_table(grid)


def judged(groups: Groups) -> Iterator[str]:
    """Yield how often reading and rules agree, and where not in the second draw."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))
    pairs: dict[int, list[tuple[str, str]]] = {1: [], 2: []}
    for one in labels:
        pairs[one["draw"]].append((one["group"], groups[one["dialect"], one["predictor"], one["question"]]))
    for draw, found in pairs.items():
        yield f"- Draw {draw}: {sum(read == ruled for read, ruled in found)} of {len(found)} agree."
    yield from ("", "In the second draw, by reading (rows) and by the rules (columns):", "")
    counts = Counter(pairs[2])
    yield markdown_line(["", *(each.replace("_", " ") for each in ErrorGroup)])
    yield "|---" + "|--:" * len(ErrorGroup) + "|"
    for read in ErrorGroup:
        cells = (str(counts[read, ruled] or "") for ruled in ErrorGroup)
        yield markdown_line([read.replace("_", " "), *cells])


def main(
    published: Annotated[Path, typer.Argument(help="Run of the published predictors on Mini-Dev.")],
    chatgpt: Annotated[Path, typer.Argument(help="Run of ChatGPT's answers to Mini-Dev's questions.")],
    dev: Annotated[Path, typer.Argument(help="Run of ChatGPT's answers to dev.")],
) -> None:
    """Renew every section of the page."""
    runs = [read_run(folder) for folder in (published, chatgpt, dev)]
    on_mini_dev, of_chatgpt, on_dev = runs
    groups = [error_groups(run).groups for run in runs]
    sections = {
        "types": by_type(on_mini_dev),
        "knowledge, dev": gain(on_dev),
        "knowledge, mini_dev": gain(of_chatgpt),
        "errors": by_group(on_mini_dev, groups[0]),
        "errors, ChatGPT": by_group(of_chatgpt, groups[1]),
        "errors, dev": by_group(on_dev, groups[2]),
        "judged": judged({**groups[0], **groups[1]}),
    }
    for name, lines in sections.items():
        replace_section(PAGE, name, "".join(f"{line}\n" for line in lines))
    print(PAGE)


if __name__ == "__main__":
    typer.run(main)
