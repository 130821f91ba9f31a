"""The answer of one engine to one gold, compared with SQLite's: the record and its closed vocabulary."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dialects.enums import Dialect
from harness.data.outcomes import GoldOrigin


class DifferenceReason(StrEnum):
    """Why an answer is not SQLite's; most are proven, `JUDGED` are found by reading."""

    TIE = "tie"
    """A query that cuts among equal sort keys has several valid answers; this is proven to be one."""
    UNSPECIFIED = "unspecified"
    """Other rows; the translation has warned that SQLite does not define the answer, or of an assumption."""
    CLOCK = "clock"
    """The query reads the clock, and the engines never agreed on it while they ran."""
    NO_REFERENCE = "no_reference"
    """SQLite itself gave no rows to compare with."""
    NOT_LOADED = "not_loaded"
    """The server has not the database, because it cannot hold it or the file cannot be read."""
    UNTRANSLATABLE = "untranslatable"
    """`dialects.translation` refused the text."""
    TIMEOUT = "timeout"
    TOO_LARGE = "too_large"
    SEVERAL_ROWS = "several_rows"
    """An error: a scalar subquery returned more than one row; SQLite takes the first."""
    BAD_VALUE = "bad_value"
    """An error: a stored text is not a number or date, where SQLite converts every text."""
    BAD_NAME = "bad_name"
    """An error: a table, column or function of that name is not there."""
    SYNTAX = "syntax"
    """An error: the engine cannot read the text."""
    ERROR = "error"
    """Any other error."""
    FLOAT_SUM = "float_sum"
    """Rows are the same once numbers may differ by 1e-9, as sums in another order of addition do."""
    DECIMAL_SCALE = "decimal_scale"
    """Rows are the same once SQLite's numbers are rounded to the digits of the engine's exact decimals."""
    PRECISION = "precision"
    """Rows are the same once numbers may differ by a hundred-thousandth: single precision."""
    ORDER = "order"
    """The same rows in an order that ORDER BY does not allow."""
    DIFFERENT = "different"
    """Other rows, and nothing of the above."""

    LETTER_CASE = "letter_case"
    """Judged: text is compared or matched with another regard to case or accents."""
    DATE_TEXT = "date_text"
    """Judged: a column is a date, where SQLite compares and reads the text that is stored."""
    DATE_ARITHMETIC = "date_arithmetic"
    """Judged: a difference of dates is counted in another way."""
    NUMBER_TEXT = "number_text"
    """Judged: a text that is not wholly a number is made another number."""
    GROUPING = "grouping"
    """Judged: rows are grouped, or made distinct, by something else."""
    INTEGER_DIVISION = "integer_division"
    """Judged: a quotient of integers is cut off in one of the two."""
    NULL_ORDER = "null_order"
    """Judged: NULL is sorted to the other end."""
    ROUNDING = "rounding"
    """Judged: a number is rounded in one of the two."""
    OTHER_MEANING = "other_meaning"
    """Judged: the gold asks something else."""


JUDGED = frozenset(
    {
        DifferenceReason.LETTER_CASE,
        DifferenceReason.DATE_TEXT,
        DifferenceReason.DATE_ARITHMETIC,
        DifferenceReason.NUMBER_TEXT,
        DifferenceReason.GROUPING,
        DifferenceReason.INTEGER_DIVISION,
        DifferenceReason.NULL_ORDER,
        DifferenceReason.ROUNDING,
        DifferenceReason.OTHER_MEANING,
    }
)
"""The reasons that a table of judgements gives for DIFFERENT."""


class OverrideState(StrEnum):
    """How a hand-written translation relates to its gold today."""

    NEEDED = "needed"
    STALE = "stale"
    """The gold that it replaces has changed."""
    UNNEEDED = "unneeded"
    """The automatic translation is covered, too."""


@dataclass(frozen=True)
class Fault:
    """Something that is not as expected; of an engine as a whole where `question` is None."""

    dialect: Dialect
    question: str | None
    text: str

    def __str__(self) -> str:
        where = self.dialect if self.question is None else f"{self.dialect} {self.question}"
        return f"{where}: {self.text}"


@dataclass(frozen=True)
class CoverageAnswer:
    """One gold on one engine.

    `same_order` is None where the query orders nothing; an order counts as the same if ORDER BY allows it.
    `only_sqlite` and `only_engine` are the first rows without a partner, shortened, as text.
    """

    question: str
    db_id: str
    difficulty: str
    dialect: Dialect
    origin: GoldOrigin
    sql: str | None = None
    runs: bool = False
    same_set: bool = False
    same_bag: bool = False
    same_order: bool | None = None
    reason: DifferenceReason | None = None
    detail: str | None = None
    """The error's or the refusal's words."""
    rules: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sqlite_seconds: float | None = None
    engine_seconds: float | None = None
    only_sqlite: tuple[str, ...] = ()
    only_engine: tuple[str, ...] = ()
    override: OverrideState | None = None
    exact: str | None = None
    """The exact form, where `sql` is a plain form that replaces it."""
    witnesses: int | None = None
    """The small databases on which the plain form has SQLite's rows, too."""

    @property
    def covered(self) -> bool:
        """True if it is SQLite's answer, or proven to be another valid one."""
        return self.reason in (None, DifferenceReason.TIE)

    def to_json(self) -> Mapping[str, Any]:
        """Return one entry of `coverage.json`."""
        content = {**asdict(self), "covered": self.covered}
        plain = ("exact", "witnesses")
        return {name: value for name, value in content.items() if self.exact or name not in plain}
