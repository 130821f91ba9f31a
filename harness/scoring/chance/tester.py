"""The verdict on an answer that EX calls right, for the metric of tested answers."""

from collections.abc import Sequence

from harness.data.outcomes import AnswerVerdict, Verdict
from harness.data.witnesses import Witness
from harness.engines import EngineName, kind_of
from harness.scoring.chance.search import PairToRefute
from harness.scoring.chance.shape import Shape, of_file
from harness.scoring.chance.witness import ExecutionPlace, judged
from harness.scoring.golds import Gold, Golds
from harness.scoring.tasks import JudgeResult, JudgeTask, Setup
from loaders.base.files import as_json, parse_json
from loaders.base.processes import Memo
from loaders.base.records import to_plain, to_record

SECONDS = 0.2
"""Of processor time to search a witness against one answer."""
_MOST_KNOWN = 16
"""Witnesses that are kept for the later answers to a question, the newest."""
_MOST_WAITING = 20.0
"""Seconds to wait for a server on which another process executes witnesses."""


class Tester:
    """Searches witnesses for the tasks of a worker.

    Args:
        setup: what all tasks share.
        golds: the golds of the run.
    """

    def __init__(self, setup: Setup, golds: Golds) -> None:
        self._setup = setup
        self._golds = golds
        self._shapes = Memo()

    def verdict(
        self, task: JudgeTask, golds: Sequence[Gold], sql: str, matched: int, found: JudgeResult
    ) -> tuple[AnswerVerdict, str | None]:
        """Return the verdict on a right answer, and the text of the witness of a refuted one.

        Answers to a question share witnesses: those that the task knows are tried first, and a new one is
        added to `found`.

        Args:
            task: the task.
            golds: of the question.
            sql: the answer.
            matched: the index of the gold that it matches.
            found: the result of the task so far.

        Raises:
            EngineUnavailable: the server broke, or is used by others for too long.
        """
        first = golds[matched]
        texts = [gold.sql for gold in (first, *golds) if gold.sql is not None and not gold.is_by_rows]
        pair = PairToRefute(sql, list(dict.fromkeys(texts)), task.dialect)
        if len(texts) <= len(golds) or (pair.has_cut and any(map(self._is_translated, golds))):
            # A translation breaks ties as SQLite does, which is not what the question asks for.
            return AnswerVerdict(Verdict.UNDECIDED), None
        database = self._setup.database(task.question.db_id, task.dialect)
        shape: Shape = self._shapes(database.sqlite_path, lambda: of_file(database.sqlite_path))
        data = found.witnesses.get(0) or task.reusable.witnesses.get(0) or b"[]"
        known = to_record(list[Witness], parse_json(data.decode()))
        place = self._place(task.dialect)
        # A known witness decides, plausible or not: only without one is the time spent on a search, and once.
        tries: list[tuple[float, list[Witness]]] = [(0.0, known[::-1])] if known else []
        verdict, witness = Verdict.UNDECIDED, None
        for seconds, earlier in tries if sql in task.undecided else [*tries, (SECONDS, [])]:
            verdict, witness = judged(shape, pair, place, database.profile, seconds, earlier)
            if verdict is not Verdict.UNDECIDED:
                break
        if witness is None:
            return AnswerVerdict(verdict), None
        if all(witness.tables != one.tables for one in known):
            found.witnesses[0] = as_json(to_plain([*known, witness][-_MOST_KNOWN:])).encode()
        return AnswerVerdict(verdict, witness.difference, witness.plausible), witness.to_text()

    def _is_translated(self, gold: Gold) -> bool:
        return not self._golds.origin(gold.question, gold.dialect).is_written

    def _place(self, name: EngineName) -> ExecutionPlace:
        servers = self._setup.servers[name]
        server = servers[0] if servers else None
        engine = kind_of(name).make(server, pooled=False)
        return ExecutionPlace(engine, server, self._setup.limits, waits=_MOST_WAITING)
