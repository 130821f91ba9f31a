"""What a question set consists of: the figures that BIRD's paper prints of data sets, as plain values.

docs/describe.md says what each figure counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.questions import Question, QuestionSet
from harness.sqltree.constructs import KEYWORDS, SqlCounts, count
from loaders.inventory import Size, size


@dataclass(frozen=True)
class Spread:
    """A figure of many texts."""

    mean: float
    median: float
    greatest: int


@dataclass(frozen=True)
class Use:
    """How often something occurs in the golds, and in how many of them."""

    occurrences: int
    golds: int


@dataclass(frozen=True)
class DatabaseDescription:
    """One database: how many questions are about it, and how much it holds; None where it is not there."""

    questions: int
    domain: str | None
    size: Size | None


@dataclass(frozen=True)
class CountedGolds:
    """The golds of one dialect.

    `counted` of them could be cut into words; everything else is of these. `joins` has how many golds have so
    many JOINs.
    """

    dialect: Dialect
    counted: int
    tokens: Spread | None
    joins_each: Spread | None
    keywords_each: Spread | None
    ngrams: Spread | None
    joins: Mapping[int, int]
    keywords: Mapping[str, Use]
    functions: Mapping[str, Use]
    with_function: int


@dataclass(frozen=True)
class Description:
    """One question set.

    `levels` has the questions of each level of difficulty, in the set's order; `with_knowledge` how many have
    evidence. `left_out` says in sentences what could not be counted.
    """

    name: str
    title: str
    questions: int
    with_knowledge: int
    dialects: Sequence[Dialect]
    levels: Mapping[str, int]
    databases: Mapping[str, DatabaseDescription]
    golds: CountedGolds
    left_out: Sequence[str]

    @property
    def sizes(self) -> list[Size]:
        """Those of the databases that are there."""
        return [one.size for one in self.databases.values() if one.size is not None]

    @property
    def values(self) -> Mapping[str, int]:
        """How many stored values there are of each kind, without NULL."""
        total: Counter[str] = Counter()
        for each in self.sizes:
            total.update(each.values)
        return {kind: found for kind, found in total.items() if kind != "null"}

    def per_database(self, figure: Callable[[Size], int]) -> float | None:
        """The mean over the databases that are there; None where none is."""
        sizes = self.sizes
        return sum(map(figure, sizes)) / len(sizes) if sizes else None

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def describe(questions: QuestionSet, asked: Dialect | None = None) -> Description:
    """Count what a set consists of.

    Args:
        questions: the set, or what was chosen of it; files of databases may be missing.
        asked: whose golds are counted; None: SQLite's, or those of the server that the databases stand on.

    Raises:
        BadInput: there are no golds in the dialect.
    """
    dialect = asked or questions.reference
    golds = [one.gold[dialect] for one in questions.questions if dialect in one.gold]
    if not golds:
        held = ", ".join(_dialects(questions))
        raise BadInput(f"--dialect {dialect}: {questions.name} has no gold in it; it has gold in {held}")
    left_out: list[str] = []
    about = Counter(question.db_id for question in questions.questions)
    databases = {
        db_id: DatabaseDescription(
            about[db_id], questions.domains.get(db_id), _size(questions, db_id, left_out)
        )
        for db_id in questions.db_ids
    }
    absent = [db_id for db_id, one in databases.items() if one.size is None]
    if questions.server is not None:
        left_out.append(
            f"{questions.name}: its databases stand on a {dialect} server, so their tables, rows and values"
            " are left out"
        )
    elif absent:
        left_out.insert(
            0,
            f"{questions.name}: {len(absent)} of {len(databases)} databases are not there or cannot be"
            f" read, so their tables, rows and values are left out ({', '.join(absent)})",
        )
    if not any(one.domain for one in databases.values()):
        left_out.append(f"{questions.name}: no domains are named for its databases, so none are shown")
    figures = _golds(golds, dialect)
    if figures.counted < len(golds):
        left_out.append(
            f"{questions.name}: {len(golds) - figures.counted} of {len(golds)} golds cannot be cut into words"
        )
    levels = Counter(str(question.difficulty) for question in questions.questions)
    return Description(
        name=questions.name,
        title=questions.title,
        questions=len(questions.questions),
        with_knowledge=sum(bool(question.evidence.strip()) for question in questions.questions),
        dialects=_dialects(questions),
        levels={each: levels[each] for each in questions.levels},
        databases=databases,
        golds=figures,
        left_out=left_out,
    )


def _dialects(questions: QuestionSet) -> list[Dialect]:
    first: Question = questions.questions[0]
    return [dialect for dialect in Dialect if dialect in first.gold]


def _size(questions: QuestionSet, db_id: str, left_out: list[str]) -> Size | None:
    path = questions.database(db_id).sqlite_path
    if not path.is_file():
        return None
    try:
        return size(path)
    except BadInput as error:
        left_out.append(str(error))
        return None


def _golds(golds: Sequence[str], dialect: Dialect) -> CountedGolds:
    counts = [found for sql in golds if (found := count(sql, dialect)) is not None]
    return CountedGolds(
        dialect=dialect,
        counted=len(counts),
        tokens=_spread(one.tokens for one in counts),
        joins_each=_spread(one.joins for one in counts),
        keywords_each=_spread(sum(one.keywords.values()) for one in counts),
        ngrams=_spread(one.ngrams for one in counts),
        joins=dict(sorted(Counter(one.joins for one in counts).items())),
        keywords={word: _use(word, counts, lambda one: one.keywords) for word in KEYWORDS},
        functions=_functions(counts),
        with_function=sum(bool(one.functions) for one in counts),
    )


def _spread(values: Iterable[int]) -> Spread | None:
    found = list(values)
    return Spread(sum(found) / len(found), float(median(found)), max(found)) if found else None


def _use(name: str, counts: Sequence[SqlCounts], of: Callable[[SqlCounts], Mapping[str, int]]) -> Use:
    found = [of(one).get(name, 0) for one in counts]
    return Use(sum(found), sum(map(bool, found)))


def _functions(counts: Sequence[SqlCounts]) -> dict[str, Use]:
    """Those that are called, the most frequent first."""
    occurrences, golds = Counter[str](), Counter[str]()
    for one in counts:
        occurrences.update(one.functions)
        golds.update(one.functions.keys())
    return {
        name: Use(occurrences[name], golds[name])
        for name in sorted(occurrences, key=lambda name: (-golds[name], -occurrences[name], name))
    }
