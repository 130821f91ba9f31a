"""The page of the project's documentation with the figures of published predictors, and what reading says.

`judged.json` is a list of explanations that somebody has judged by reading texts and rows: predictor, engine,
question, the cause that was decided, whether it is right, and why in a few words. It holds no text of data.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dialects.errors import BadInput
from harness.engines import TITLES
from harness.gap.causes import ABOUT, Cause
from harness.gap.explaining import Explained, Gap
from harness.gap.tables import documented
from harness.report.texts import markdown
from harness.session.request import Request
from loaders.base.files import replace_section

PAGE = Path(__file__).parents[2] / "docs" / "dialect-gap.md"
JUDGED = Path(__file__).with_name("judged.json")

DRAWN = 60
"""How many explanations are judged."""
SEED = 60


@dataclass(frozen=True)
class JudgedExplanation:
    """An explanation that somebody has read; `right` where its cause is the one that reading finds."""

    predictor: str
    dialect: str
    question: str
    cause: str
    right: bool
    why: str


def check_whole(request: Request) -> None:
    """Refuse to renew the page with a part of what it shows.

    Raises:
        BadInput: a part of the questions or engines was asked for.
    """
    if str(request.choice) or request.dialects is not None:
        raise BadInput(
            "--update: needs every question and every engine; leave out --limit, --dialect and the like"
        )


def update_page(gap: Gap, page: Path = PAGE) -> None:
    """Write the figures of a set anew.

    Raises:
        BadInput: the page has no section for the set.
    """
    document = documented(gap)
    # The page has a title of its own.
    tables = markdown(document, gap.set_name).partition("\n")[2].replace("\n## ", "\n### ")
    replace_section(page, gap.set_name, f"{tables}\n{counted(gap)}\n")
    replace_section(page, "judged", judged_table(gap.explained, read_judged()))


def counted(gap: Gap) -> str:
    """How many questions differ, and how many of them are not decided."""
    total = len(gap.explained)
    open_ones = sum(one.decision.cause is Cause.UNDECIDED for one in gap.explained)
    share = 100 * open_ones / total if total else 0.0
    return f"{total} questions differ; {open_ones} are not decided ({share:.1f} %)."


def drawn(explained: Sequence[Explained]) -> list[Explained]:
    """The explanations that are judged, drawn by a fixed seed."""
    ordered = sorted(explained, key=lambda one: (one.predictor, one.target, one.question.key))
    chance = random.Random(SEED)  # noqa: S311 - no secret
    return chance.sample(ordered, min(DRAWN, len(ordered)))


def read_judged(path: Path = JUDGED) -> list[JudgedExplanation]:
    """What reading has said.

    Raises:
        BadInput: the file is no such list.
    """
    try:
        return [JudgedExplanation(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise BadInput(
            f"{path}: is no list of judged explanations ({error}); see docs/dialect-gap.md"
        ) from error


def judged_table(explained: Sequence[Explained], judged: Sequence[JudgedExplanation]) -> str:
    """The judged explanations, as Markdown; those whose cause is another one now are said to be."""
    now = {(one.predictor, one.target, one.question.key): str(one.decision.cause) for one in explained}
    lines = ["| question | predictor | engine | cause | judged | why |", "|---|---|---|---|---|---|"]
    right = 0
    for one in judged:
        is_same = now.get((one.predictor, one.dialect, one.question), one.cause) == one.cause
        right += one.right and is_same
        said = ("right" if one.right else "wrong") if is_same else "decided otherwise now"
        title = ABOUT[Cause(one.cause)].title
        lines.append(
            f"| {one.question} | {one.predictor} | {TITLES[one.dialect]} | {title} | {said} | {one.why} |"
        )
    total = len(judged)
    share = f" ({100 * right / total:.0f} %)" if total else ""
    return "\n".join([f"{right} of {total} are right{share}.", "", *lines]) + "\n"
