"""The library: scores SQL texts as they come, in a training loop, a notebook or a service.

    from harness import Answer, Evaluator

    with Evaluator("mini_dev", dialects=["sqlite"], workers=8) as evaluator:
        for judgement in evaluator.score([Answer("1471", "SELECT ...")]):
            print(judgement.outcome, judgement.scores["ex"])

It is the same core as that of `bird-harness eval`: the same outcomes and scores, the same store.
"""

import logging
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from dialects.enums import Dialect, Profile
from dialects.errors import BadInput
from harness.engines import EngineName, kinds_by_name
from harness.metrics import METRICS
from harness.outcomes import Judgement
from harness.request import Request, check_range, parse_metrics
from harness.scoring.dispatch import Asked, Judging
from harness.session.plan import equip, open_judging
from harness.sets.loading import load_set
from loaders.errors import brief
from loaders.textfiles import is_text

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """An SQL text as an answer to a question.

    `question` is its published id (1471), or its key within the set ("1471"). Where several questions share
    an id, it has to be the key: "137#1" for the first, whose key is also "137", and "137#2" for the second.
    `dialect` None is the only one that the evaluator has.
    """

    question: int | str
    sql: str
    dialect: EngineName | None = None


def _silent(line: str) -> None:
    del line


def _several(named: str | Sequence[str]) -> Sequence[str]:
    """Names as they may be given: in one text, separated by commas, or each for itself."""
    return (
        [each.strip() for each in named.split(",")]
        if isinstance(named, str)
        else [str(each) for each in named]
    )


def _one_of(known: Collection[str], what: str, value: str) -> str:
    """The word of a vocabulary that a text is, as a plain one.

    Raises:
        BadInput: it is none.
    """
    if value not in known:
        raise BadInput(f"{what} {brief(repr(str(value)))}: choose from {', '.join(known)}")
    return str(value)


class Evaluator:
    """Scores answers to the questions of a set.

    Its workers are started with the first answers that nobody has given before, and stay until it is closed.
    Threads may share one: equal answers of theirs are executed once. Processes may, too: one that was forked,
    or that was sent an evaluator, starts workers of its own and shares the store.

    Args:
        set_name: `sample`, `mini_dev`, `mini_dev_2025` or `dev`; or the path of a set of one's own.
        dialects: the engines that answers are for, one or several (`"postgresql"`, `["sqlite", "mysql"]`);
            the servers have to be up (`bird-harness up`).
        metrics: names from `harness.metrics.METRICS`, but those of time; one or several.
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
        set_name: str = Request.set_name,
        *,
        dialects: EngineName | Sequence[EngineName] = (Dialect.SQLITE,),
        metrics: str | Sequence[str] = Request.metrics,
        workers: int | None = None,
        profile: Profile | str = Request.profile,
        seconds: float = Request.seconds,
        bird_home: Path | str | None = None,
        cache: bool = Request.cache,
        diagnose: bool = False,
        say: Callable[[str], None] = _silent,
    ) -> None:
        asked = parse_metrics(",".join(_several(metrics)))
        timed = [name for name in asked if METRICS[name].of_timing is not None]
        if timed:
            raise BadInput(
                f"{', '.join(timed)}: times are measured by bird-harness eval, alone on the machine"
            )
        check_range("workers", workers, "workers")
        check_range("seconds", seconds, "seconds")
        home = None if bird_home is None else Path(bird_home)
        questions = load_set(set_name, home)
        for note in questions.notes:
            say(note)
        named = [_one_of(kinds_by_name(), "dialects", each) for each in _several(dialects)]
        if not named:
            raise BadInput(f"dialects: none is named; choose from {', '.join(kinds_by_name())}")
        request = Request(
            set_name=set_name,
            dialects=list(dict.fromkeys(named)),
            metrics=asked,
            profile=Profile(_one_of(list(Profile), "profile", profile)),
            seconds=seconds,
            bird_home=home,
            cache=cache,
            workers=workers,
        )
        equipped = equip(request, questions, request.dialects or (), say=say)
        self._request, self._setup = (
            equipped.request,
            replace(equipped.setup, diagnoses=diagnose, previews=False),
        )
        self._questions = questions
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._process = os.getpid()
        self._judging: Judging | None = None
        self._closed = False
        self._told: set[str] = set()

    def score(self, answers: Sequence[Answer]) -> list[Judgement]:
        """What answers come to, in their order; waits for all of them.

        Never raises for what an engine or a statement does: that is an outcome.

        Raises:
            BadInput: a question or a dialect is not of this evaluator, or an answer is no text.
            EngineUnavailable: an engine does not answer when it is first asked.
        """
        asked = [self._asked(each) for each in answers]
        return [future.result() for future in self._open().begin(asked, waits=True)]

    def _asked(self, answer: Answer) -> Asked:
        question = self._questions.by_key[self._questions.key_of(answer.question)]
        if not is_text(answer.sql):
            raise BadInput(
                f"question {answer.question}: the answer is no text that UTF-8 can hold; give the SQL"
            )
        if answer.question == question.key and len(self._questions.keys_of(question.question_id)) > 1:
            self._tell(question.key)
        return Asked(question, self._dialect(answer), answer.sql)

    def _dialect(self, answer: Answer) -> EngineName:
        servers = self._setup.servers
        if answer.dialect is None:
            if len(servers) == 1:
                return next(iter(servers))
            raise BadInput(
                f"question {answer.question}: say in which dialect the answer is: {', '.join(servers)}"
            )
        dialect = _one_of(kinds_by_name(), f"question {answer.question}: dialect", answer.dialect)
        if dialect not in servers:
            raise BadInput(
                f"question {answer.question}: the answer is in {dialect}, and this evaluator has"
                f" {', '.join(servers)}; name it in dialects"
            )
        return dialect

    def _tell(self, key: str) -> None:
        """Log once that a key may have been meant for another question of the same id."""
        if "#" not in key and key not in self._told:
            self._told.add(key)
            _log.warning(
                "question %r of %s is the first that has this id; write %r to say so, or %r for the next",
                key, self._questions.name, f"{key}#1", f"{key}#2",
            )  # fmt: skip

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
