"""The library: scores SQL texts as they come, in a training loop, a notebook or a service.

    from harness import Answer, Evaluator

    with Evaluator("mini_dev", dialects=["sqlite"], workers=8) as evaluator:
        for judgement in evaluator.score([Answer("1471", "SELECT ...")]):
            print(judgement.outcome, judgement.scores["ex"])

It is the same core as that of `bird-harness eval`: the same outcomes and scores, the same store.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from harness.benchmark import Question
from harness.errors import BadInput
from harness.execution import Limits
from harness.judging.dispatch import Asked, Judging
from harness.metrics import DEFAULT_METRICS, METRICS
from harness.outcomes import Judgement
from harness.plan import equip, open_judging
from harness.readers.question_sets import load_set
from harness.request import Request, parse_metrics
from harness.words import Dialect, Profile


@dataclass(frozen=True)
class Answer:
    """An SQL text as an answer to a question.

    `question` is its key within the set: the published id ("137"), or "137#2" for the second question of
    that id.
    """

    question: str
    sql: str
    dialect: Dialect = Dialect.SQLITE


def _silent(line: str) -> None:
    del line


class Evaluator:
    """Scores answers to the questions of a set.

    Its workers are started with the first answers that nobody has given before, and stay until it is closed.
    Threads may share one: equal answers of theirs are executed once. Processes may, too: one that was forked,
    or that was sent an evaluator, starts workers of its own and shares the store.

    Args:
        set_name: `sample`, `mini_dev`, `mini_dev_2025` or `dev`.
        dialects: the engines that answers are for; the servers have to be up (`bird-harness up`).
        metrics: names from `harness.metrics.METRICS`, but those of time.
        workers: how many processes judge; default: one a core.
        profile: how the databases are loaded.
        seconds: the limit for a prediction and its gold together.
        bird_home: where the published data are; default: as `bird-harness eval` finds them.
        cache: whether what is known from earlier runs is used and added to.
        diagnose: whether it is found out what is wrong with an answer that does not match
            (`Judgement.error_class`), which takes about a millisecond for each.
        say: takes one line at a time about what is being done.

    Raises:
        BadInput: the set, a dialect or a metric is wrong.
        EngineUnavailable: an engine is not up, or loading into it failed.
    """

    def __init__(  # noqa: PLR0913 - what a run can be told
        self,
        set_name: str = "sample",
        *,
        dialects: Sequence[Dialect | str] = (Dialect.SQLITE,),
        metrics: Sequence[str] = DEFAULT_METRICS,
        workers: int | None = None,
        profile: Profile = Profile.OFFICIAL,
        seconds: float = Limits.seconds,
        bird_home: Path | None = None,
        cache: bool = True,
        diagnose: bool = False,
        say: Callable[[str], None] = _silent,
    ) -> None:
        timed = [name for name in metrics if name in METRICS and METRICS[name].of_timing is not None]
        if timed:
            raise BadInput(
                f"{', '.join(timed)}: times are measured by bird-harness eval, alone on the machine"
            )
        questions = load_set(set_name, bird_home)
        request = Request(
            set_name=set_name,
            dialects=[Dialect(dialect) for dialect in dialects],
            metrics=parse_metrics(",".join(metrics)),
            profile=profile,
            seconds=seconds,
            bird_home=bird_home,
            cache=cache,
            workers=workers,
        )
        equipped = equip(request, questions, request.dialects or (), say=say)
        self._request, self._setup = (
            equipped.request,
            replace(equipped.setup, diagnoses=diagnose, previews=False),
        )
        self._questions = {item.key: item for item in questions.questions}
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._process = os.getpid()
        self._judging: Judging | None = None
        self._closed = False

    def score(self, answers: Sequence[Answer]) -> list[Judgement]:
        """What answers come to, in their order; waits for all of them.

        Never raises for what an engine or a statement does: that is an outcome.

        Raises:
            BadInput: a question or a dialect is not of this evaluator.
            EngineUnavailable: an engine does not answer when it is first asked.
        """
        asked = [Asked(self._question(each), Dialect(each.dialect), each.sql) for each in answers]
        return [future.result() for future in self._open().begin(asked, waits=True)]

    def _question(self, answer: Answer) -> Question:
        if answer.question not in self._questions:
            raise BadInput(
                f"question {answer.question!r}: not in {self._request.set_name}; give the key of one of its"
                f" {len(self._questions)} questions, such as {next(iter(self._questions))!r}"
            )
        if answer.dialect not in self._setup.servers:
            raise BadInput(
                f"question {answer.question!r}: the answer is in {answer.dialect}, and this evaluator has"
                f" {', '.join(self._setup.servers)}; name it in dialects"
            )
        return self._questions[answer.question]

    def _open(self) -> Judging:
        # Threads and connections stay behind in the parent of a fork.
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._closed:
                raise BadInput("this evaluator is closed; make another one")
            if self._judging is None:
                self._judging = open_judging(self._request, self._setup, _silent)
            return self._judging

    def close(self) -> None:
        """Stop its workers; what others wait for becomes harness errors."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._closed = True
            judging, self._judging = self._judging, None
        if judging is not None:
            judging.close()

    def __getstate__(self) -> dict[str, Any]:
        return {"_request": self._request, "_setup": self._setup, "_questions": self._questions}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
