"""Problems, asks and prompts for tests, and a farm whose schema has keys between its tables."""

from dialects.enums import Dialect
from harness.engines.base import ColumnText, TableText
from harness.predictors.base import Ask, DatabaseText, Message, Problem, Prompt


def problem(question: str = "1", dialect: Dialect = Dialect.SQLITE, text: str = "How many?") -> Problem:
    table = TableText("t", "CREATE TABLE t (a INTEGER)", ())
    return Problem(question, text, "", DatabaseText("shop", dialect, (table,)))


def prompt(content: str = "How many?") -> Prompt:
    return Prompt((Message("user", content),), tokens=len(content), estimated=False)


def ask(question: str = "1", sample: int = 0, dialect: Dialect = Dialect.SQLITE) -> Ask:
    return Ask(problem(question, dialect), prompt().messages, "sql", sample, f"id-{question}-{sample}")


def table(name: str, *columns: str, refers: tuple[str, str, str] | None = None) -> TableText:
    """A table of columns of texts; `refers`: its column, another table and the column there."""
    keys = (((refers[0],), refers[1], (refers[2],)),) if refers else ()
    create = f"CREATE TABLE {name} ({', '.join(columns)})"
    return TableText(name, create, tuple(ColumnText(each, "text") for each in columns), (), keys)


FARM = DatabaseText(
    "farm",
    Dialect.SQLITE,
    (
        table("animals", "animal_id", "name", "stable_id", refers=("stable_id", "stables", "stable_id")),
        table("stables", "stable_id", "Built In", "name"),
        table("visits", "animal_id", "vet", "paid", refers=("animal_id", "animals", "animal_id")),
    ),
    "3.46",
)


def about_farm(text: str = "Which animal is the oldest?", evidence: str = "") -> Problem:
    return Problem("1", text, evidence, FARM)
