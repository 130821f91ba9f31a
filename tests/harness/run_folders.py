"""Run folders with results that the tests make up."""

from collections.abc import Sequence
from pathlib import Path

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin, Outcome, PairResult
from harness.data.questions import Difficulty
from harness.runs.folder import RunFolder

_MANIFEST = {"set": "sample", "questions": 30, "profile": "official", "metrics": ["ex", "soft_f1"]}


def pair(
    question: int, predictor: str = "p", dialect: Dialect = Dialect.SQLITE, **scores: float
) -> PairResult:
    return PairResult(
        dialect=dialect,
        predictor=predictor,
        question=str(question),
        question_id=question,
        db_id="d",
        difficulty=list(Difficulty)[question % 3],
        outcome=Outcome.MATCH if scores.get("ex") == 1.0 else Outcome.MISMATCH,
        scores=scores,
        gold_origin=GoldOrigin.DATASET,
    )


def right_on(
    numbers: Sequence[int], predictor: str = "p", dialect: Dialect = Dialect.SQLITE, questions: int = 30
) -> list[PairResult]:
    """Results of a predictor that is right on these questions and has half of Soft-F1 on the others."""
    return [
        pair(
            number, predictor, dialect, ex=float(number in numbers), soft_f1=1.0 if number in numbers else 0.5
        )
        for number in range(questions)
    ]


def write_run(path: Path, results: Sequence[PairResult], **manifest: object) -> Path:
    """A finished run with these results, in a folder of that path."""
    with RunFolder(path.parent, _MANIFEST | manifest, ["ex", "soft_f1"]) as folder:
        for result in results:
            folder.add(result)
        folder.finish()
    return folder.path.rename(path)
