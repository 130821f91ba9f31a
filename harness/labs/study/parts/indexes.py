"""E3: what keys and indexes do to a workload, and to the ranks of predictors.

The workload is the golds of the chosen questions. Each database is copied, and golds and right answers are
counted under every scheme. Advice is for the golds: an answer has to do with what its database has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from statistics import fmean
from typing import Any

from harness.data.questions import QuestionSet
from harness.engines import TITLES, EngineName, dialect_of
from harness.engines.execution import execute
from harness.labs.study.advice import advise, candidates
from harness.labs.study.base import Analysis, BarChart, ChartBar, Output, RightPair, StudyContext
from harness.labs.study.copies import (
    CopyRoom,
    DatabaseCopy,
    Index,
    Keys,
    Scheme,
    copying,
    foreign_indexes,
)
from harness.labs.study.measures import counted, indexes_of, plan_of, rows_digest, work_of
from harness.metrics.work import r_ves_work
from harness.report.table_model import (
    CellKind,
    TableColumn,
    columns,
    row,
    table,
)

_ORDER = (Scheme.PRIMARY, Scheme.FOREIGN, Scheme.ADVISED, Scheme.NONE)
"""In which a copy goes through them: the last one stores its tables anew."""

_OTHER = 0.01
"""Share of a text's work: less in either direction is called the same."""

_MEGABYTE = 1_000_000

_RUNS = 3
"""How many times a text is timed; the shortest counts, by the client's clock."""


@dataclass
class _Scale:
    """One set on one engine: the results of its golds and right answers under each scheme.

    `works` are records of `measuring.counted` by scheme, database and text. `figures` are by scheme: bytes of
    indexes and tables, seconds to make indexes, how many there are. `golds` are the workload, by question.
    """

    name: str
    engine: EngineName
    golds: dict[str, tuple[str, str]] = field(default_factory=dict)
    pairs: list[RightPair] = field(default_factory=list)
    works: dict[tuple[Scheme, str, str], Any] = field(default_factory=dict)
    figures: dict[tuple[Scheme, str], Any] = field(default_factory=dict)
    advice: dict[str, Any] = field(default_factory=dict)

    def work(self, scheme: Scheme, db_id: str, text: str) -> float | None:
        """Return the units of work of a text under a scheme; None if it did not finish."""
        return work_of(self.engine, self.works[scheme, db_id, text])


def run(context: StudyContext) -> Iterator[Output]:
    """Measure every scheme on every engine, at every scale."""
    pairs = context.right_pairs() if context.files else []
    scales = []
    for number, questions in enumerate(context.sets):
        name = questions.name if number == 0 else f"{questions.name}, scale {number + 1}"
        for engine in context.engines:
            scale = _Scale(name, engine, pairs=[pair for pair in pairs if pair.dialect == engine])
            for question in context.questions.questions:
                if (gold := context.gold(question, engine)) is not None:
                    scale.golds[question.key] = question.db_id, gold
            scales.append((questions, scale))
    for _, scale in scales:
        context.expect(sum(1 for _ in _keys(scale)))
    with ExitStack() as stack:
        rooms: list[CopyRoom] = []

        def room() -> CopyRoom:
            if not rooms:
                rooms.append(stack.enter_context(copying(context.servers)))
            return rooms[0]

        for questions, scale in scales:
            _measure(context, questions, scale, room)
    found = [scale for _, scale in scales]
    yield from _workload(found)
    yield from _advised(found)
    if pairs:
        yield from _predictors(context, found)


def _texts(scale: _Scale, db_id: str) -> list[str]:
    """Return golds and right answers about a database, each once."""
    golds = [gold for where, gold in scale.golds.values() if where == db_id]
    answers = [text for pair in scale.pairs if pair.question.db_id == db_id for text in (pair.sql, pair.gold)]
    return list(dict.fromkeys((*golds, *answers)))


def _databases(scale: _Scale) -> list[str]:
    return list(dict.fromkeys(db_id for db_id, _ in scale.golds.values()))


def _key(scale: _Scale, what: str, db_id: str, scheme: str = "", text: str = "") -> tuple[str, ...]:
    digest = sha256(text.encode()).hexdigest()[:16] if text else ""
    return scale.name, scale.engine, what, db_id, scheme, digest


def _keys(scale: _Scale) -> Iterator[tuple[str, ...]]:
    """Yield every unit of a scale."""
    for db_id in _databases(scale):
        yield _key(scale, "advice", db_id)
        for scheme in _ORDER:
            yield _key(scale, "figures", db_id, scheme)
            for text in _texts(scale, db_id):
                yield _key(scale, "work", db_id, scheme, text)


def _measure(
    context: StudyContext, questions: QuestionSet, scale: _Scale, room: Callable[[], CopyRoom]
) -> None:
    for db_id in _databases(scale):
        whole = [key for key in _keys(scale) if key[3] == db_id]
        with ExitStack() as stack:
            copy: DatabaseCopy | None = None
            if not all(map(context.has, whole)):
                database = questions.database(db_id, context.setup.profile)
                copy = stack.enter_context(room().copy(scale.engine, database, Keys.PRIMARY))
            _Schemes(context, scale, db_id, copy).run()


@dataclass
class _Schemes:
    """One database on one engine, taken through the schemes; the copy is None where all is known."""

    context: StudyContext
    scale: _Scale
    db_id: str
    copy: DatabaseCopy | None

    def run(self) -> None:
        """Take the copy through the schemes, in their order."""
        for scheme in _ORDER:
            made = self._enter(scheme)
            figures = self._unit("figures", scheme, partial(self._figures, made))
            self.scale.figures[scheme, self.db_id] = figures
            for text in _texts(self.scale, self.db_id):
                record = self._unit("work", scheme, partial(self._counted, scheme, text), text)
                self.scale.works[scheme, self.db_id, text] = record
            if self.copy is not None and scheme is not Scheme.NONE:
                for index in made:
                    self.copy.remove(index)

    def _unit(self, what: str, scheme: str, measure: Callable[[], Any], text: str = "") -> Any:
        return self.context.unit(_key(self.scale, what, self.db_id, scheme, text), measure)

    def _enter(self, scheme: Scheme) -> dict[Index, float]:
        """Make the indexes of a scheme in the copy: those that are there, with their seconds."""
        if scheme is Scheme.ADVISED:
            advice = self._unit("advice", "", self._advise)
            self.scale.advice[self.db_id] = advice
            wanted = [Index(table, tuple(columns)) for table, columns in advice["kept"]]
        elif scheme is Scheme.FOREIGN and self.copy is not None:
            wanted = foreign_indexes(self.copy.schema)
        else:
            wanted = []
        if self.copy is None:
            return {}
        if scheme is Scheme.NONE:
            self.copy.drop_primary_keys()
        made = {index: self.copy.add(index) for index in wanted}
        return {index: one.seconds for index, one in made.items() if one.refused is None}

    def _advise(self) -> dict[str, Any]:
        """Return advice for the golds; leaves the copy as it was."""
        copy = self._copy
        golds = [gold for db_id, gold in self.scale.golds.values() if db_id == self.db_id]
        before = {text: self.scale.work(Scheme.PRIMARY, self.db_id, text) for text in golds}
        wanted = candidates(golds, dialect_of(self.scale.engine), copy.schema)
        advice = advise(copy, wanted, golds, before, self._work, self._used)
        for index in advice.kept:
            copy.remove(index)
        return {
            "kept": [[index.table, list(index.columns)] for index in advice.kept],
            "candidates": len(wanted),
            "used": len(advice.used),
            "refused": [f"{index}: {one.refused}" for index, one in advice.made.items() if one.refused],
            "before": advice.before,
            "after": advice.after,
        }

    def _work(self, text: str) -> float | None:
        engine = self.context.engines[self.scale.engine]
        found = counted(engine, self._copy.database, text, self.context.limits)
        return work_of(self.scale.engine, found)

    def _used(self, text: str) -> frozenset[str]:
        engine = self.context.engines[self.scale.engine]
        return indexes_of(plan_of(engine, self._copy.database, text, self.context.limits))

    def _figures(self, made: Mapping[Index, float]) -> dict[str, Any]:
        sizes = self._copy.sizes()
        own = {index.name: index for index in made}
        return {
            "index_bytes": sum(size for (_, name), size in sizes.items() if name),
            "table_bytes": sum(size for (_, name), size in sizes.items() if not name),
            "seconds": sum(made.values()),
            "indexes": [
                {"index": str(own[name]), "bytes": size, "seconds": made[own[name]], "name": name}
                for (_, name), size in sizes.items()
                if name in own
            ],
        }

    def _counted(self, scheme: Scheme, text: str) -> dict[str, Any]:
        """Return the counters, and for golds the rows where the work differs, so that rows may, too."""
        engine, database = self.context.engines[self.scale.engine], self._copy.database
        record = counted(engine, database, text, self.context.limits)
        is_gold = any(gold == text for where, gold in self.scale.golds.values() if where == self.db_id)
        known = self.scale.works.get((Scheme.PRIMARY, self.db_id, text))
        if is_gold and (known is None or known.get("counters") != record.get("counters")):
            record["rows"] = rows_digest(engine, database, text, self.context.limits)
        if is_gold and self.context.with_times:
            runs = [execute(engine, database, text, self.context.limits) for _ in range(_RUNS)]
            record["seconds"] = min(one.seconds for one in runs)
        if scheme in {Scheme.ADVISED, Scheme.FOREIGN}:
            record["indexes"] = sorted(indexes_of(plan_of(engine, database, text, self.context.limits)))
        return record

    @property
    def _copy(self) -> DatabaseCopy:
        assert self.copy is not None  # noqa: S101 - it is made wherever a unit is missing
        return self.copy


def _workload(scales: Sequence[_Scale]) -> Iterator[Output]:
    heads = columns(
        "scheme",
        ("work", "work", CellKind.COUNT),
        ("% of primary", "work_percent"),
        ("less", "less", CellKind.COUNT),
        ("more", "more", CellKind.COUNT),
        ("unfinished", "unfinished", CellKind.COUNT),
        ("other rows", "other_rows", CellKind.COUNT),
        ("indexes", "indexes", CellKind.COUNT),
        ("index MB", "index_megabytes"),
        ("table MB", "table_megabytes"),
        ("made in s", "build_seconds"),
    )
    timed = any("seconds" in record for scale in scales for record in scale.works.values())
    if timed:
        heads += columns("scheme", ("time s", "seconds"))
    rows, bars = [], []
    for scale in scales:
        for scheme in Scheme:
            found = _compared(scale, scheme)
            figures = [scale.figures[scheme, db_id] for db_id in _databases(scale)]
            cells = (
                *found,
                float(sum(len(one["indexes"]) for one in figures)),
                sum(one["index_bytes"] for one in figures) / _MEGABYTE,
                sum(one["table_bytes"] for one in figures) / _MEGABYTE,
                sum(one["seconds"] for one in figures),
                *(
                    [sum(scale.works[scheme, *one]["seconds"] for one in scale.golds.values())]
                    if timed
                    else ()
                ),
            )
            labels = (scale.name, TITLES[scale.engine], scheme.value)
            rows.append(row(labels, cells, f"{scale.name} / {scheme}", dialect=scale.engine))
            if found[1] is not None:
                bars.append(
                    ChartBar(", ".join((labels[1], labels[2], labels[0])), found[1], f"{found[1]:.1f}")
                )
    yield table(
        "The golds under four schemes",
        ("set", "engine", "scheme"),
        heads,
        rows,
        "work: in units, of all golds that come to their end under every scheme.",
        "unfinished: golds that do not come to their end under this one.",
        "less, more: golds whose work is at least 1 % less or more than with primary keys.",
        "other rows: golds whose rows are others than with primary keys, as a bag: ties at a LIMIT.",
        "indexes, made in s: those beyond primary keys. MySQL's tables are stored in their primary keys.",
    )
    yield BarChart("Work of the golds, in % of that with primary keys", tuple(bars), 100.0)


def _compared(scale: _Scale, scheme: Scheme) -> tuple[float | None, ...]:
    """Work, percent of primary, less, more, unfinished, other rows: of the golds under a scheme."""
    golds = list(scale.golds.values())
    whole = [one for one in golds if all(scale.work(each, *one) is not None for each in Scheme)]
    work = sum(scale.work(scheme, *one) or 0 for one in whole)
    primary = sum(scale.work(Scheme.PRIMARY, *one) or 0 for one in whole)
    changes = [(scale.work(scheme, *one) or 0) / (scale.work(Scheme.PRIMARY, *one) or 1) - 1 for one in whole]
    unfinished = sum(scale.work(scheme, *one) is None for one in golds)
    # A gold that one scheme stops is unfinished, and has no rows to compare.
    others = sum(
        scale.works[scheme, *one].get("rows", primary_rows) != primary_rows
        for one in whole
        if (primary_rows := scale.works[Scheme.PRIMARY, *one]["rows"])
    )
    less = sum(change <= -_OTHER for change in changes)
    more = sum(change >= _OTHER for change in changes)
    return work, 100 * work / primary if primary else None, less, more, unfinished, others


def _advised(scales: Sequence[_Scale]) -> Iterator[Output]:
    heads = columns(
        "index",
        ("golds", "golds", CellKind.COUNT),
        ("KB", "kilobytes", CellKind.COUNT),
        ("made in ms", "build_milliseconds", CellKind.MEAN),
    )
    rows, notes = [], []
    for scale in scales:
        tried = sum(one["candidates"] for one in scale.advice.values())
        used = sum(one["used"] for one in scale.advice.values())
        kept = sum(len(one["kept"]) for one in scale.advice.values())
        where = f"{scale.name}, {TITLES[scale.engine]}"
        notes.append(f"{where}: {tried} candidates, {used} of them in a plan, {kept} kept.")
        refused = [one for advice in scale.advice.values() for one in advice["refused"]]
        if refused:
            notes.append(f"{where}: {len(refused)} candidates are refused, the first: {refused[0]}")
        for db_id in _databases(scale):
            for index in scale.figures[Scheme.ADVISED, db_id]["indexes"]:
                using = sum(
                    index["name"] in scale.works[Scheme.ADVISED, where, gold]["indexes"]
                    for where, gold in scale.golds.values()
                    if where == db_id
                )
                labels = (scale.name, TITLES[scale.engine], db_id, index["index"])
                values = (using, index["bytes"] / 1000, 1000 * index["seconds"])
                level = " / ".join((scale.name, db_id, index["index"]))
                rows.append(row(labels, values, level, dialect=scale.engine))
    yield table(
        "Advised indexes",
        ("set", "engine", "database", "index"),
        heads,
        rows,
        "golds: how many have the index in their plan.",
        *notes,
    )


def _predictors(context: StudyContext, scales: Sequence[_Scale]) -> Iterator[Output]:
    """R-VES by work under each scheme, and whether the ranks of predictors change."""
    heads = tuple(TableColumn(scheme.value, "r_ves_work", "scheme", level=scheme) for scheme in Scheme)
    rows, notes, bars = [], [], []
    for scale in scales:
        asked = len(scale.golds)
        figures: dict[str, dict[Scheme, float]] = {}
        answering = [file.predictor for file in context.files if file.dialect == scale.engine]
        for predictor in dict.fromkeys(answering):
            mine = [pair for pair in scale.pairs if pair.predictor == predictor]
            figures[predictor] = {
                scheme: 100 * sum(_reward(scale, scheme, pair) for pair in mine) / asked for scheme in Scheme
            }
            labels = (scale.name, TITLES[scale.engine], predictor)
            values = [figures[predictor][scheme] for scheme in Scheme]
            made = row(labels, values, scale.name, dialect=scale.engine, predictor=predictor)
            rows.append(replace(made, by="scheme"))
        ranks = {scheme: _ranked(figures, scheme) for scheme in Scheme}
        notes += [
            f"{scale.name}, {TITLES[scale.engine]}, {scheme}: {moved}."
            for scheme in Scheme
            if (moved := _moved(ranks[Scheme.PRIMARY], ranks[scheme]))
        ]
        spread = {s: fmean(one[s] for one in figures.values()) for s in Scheme} if figures else {}
        bars += [
            ChartBar(f"{TITLES[scale.engine]}, {scheme}, {scale.name}", mean, f"{mean:.2f}")
            for scheme, mean in spread.items()
        ]
    notes = notes or ["No predictor has another rank under any scheme than with primary keys."]
    yield table("R-VES by work under four schemes", ["set", "engine", "predictor"], heads, rows, *notes)
    yield BarChart("R-VES by work, mean of the predictors", tuple(bars))


def _ranked(figures: Mapping[str, Mapping[Scheme, float]], scheme: Scheme) -> list[str]:
    """Return the predictors, the best first; equals in the order of their files."""
    return sorted(figures, key=lambda name: -figures[name][scheme])


def _reward(scale: _Scale, scheme: Scheme, pair: RightPair) -> float:
    """Return the score of a right answer: 0 if it does not finish, 1 if gold does not."""
    ours = scale.work(scheme, pair.question.db_id, pair.sql)
    theirs = scale.work(scheme, pair.question.db_id, pair.gold)
    if ours is None or theirs is None:
        return 0.0 if theirs is not None else 1.0
    return r_ves_work(theirs / ours) if ours else 1.0


def _moved(before: Sequence[str], after: Sequence[str]) -> str:
    """List the predictors whose rank changes, and by how much."""
    moves = [
        f"{name} {before.index(name) + 1} to {after.index(name) + 1}"
        for name in before
        if before.index(name) != after.index(name)
    ]
    return ", ".join(moves)


PART = Analysis("e3", "Indexes", run)
