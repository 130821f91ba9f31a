"""`file:PATH`: answers that are there already, in any format of prediction files.

They are read as `bird-harness eval` reads them; nothing is asked, and nothing is spent.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.predictions import PredictionFile, read_predictions
from harness.data.questions import QuestionSet
from harness.predictors.adapters.settings import Settings
from harness.predictors.base import Ask, Reply, RequestFailed

EXAMPLE = "file:predictions/"


class FilePredictor:
    """Answers from a prediction file, or from a folder of them.

    Raises:
        BadInput: a file is wrong, a dialect that is asked for is in none, or in those of several predictors.
    """

    def __init__(
        self, path: Path, settings: Settings, questions: QuestionSet, dialects: Sequence[Dialect]
    ) -> None:
        self._files: dict[Dialect, PredictionFile] = {}
        read = read_predictions(
            [path],
            questions,
            predictor=settings.predictor,
            allow_missing=settings.allow_missing,
            dialects=dialects,
        )
        for file in read:
            other = self._files.setdefault(file.dialect, file)
            if other is not file:
                both = f"{other.predictor} and {file.predictor}"
                raise BadInput(
                    f"{path}: answers in {file.dialect} of two predictors ({both}); name the files of one"
                )
        if absent := [dialect for dialect in dialects if dialect not in self._files]:
            raise BadInput(
                f"{path}: no answers in {', '.join(absent)}; leave these dialects out, or name more files"
            )

    @property
    def identity(self) -> Mapping[str, Any]:
        """The digests of the files."""
        return {"kind": "file", "sha256": {dialect: file.sha256 for dialect, file in self._files.items()}}

    def ask(self, ask: Ask) -> Reply:
        """The answer as it is in the file."""
        problem = ask.problem
        file = self._files.get(problem.dialect)
        text = None if file is None else file.predictions.get(problem.question)
        if text is None:
            place = "the files" if file is None else str(file.path)
            raise RequestFailed(f"{place} have no answer to question {problem.question} in {problem.dialect}")
        return Reply(text)

    def close(self) -> None:
        """Nothing is open."""
