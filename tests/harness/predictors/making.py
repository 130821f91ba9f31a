"""Problems, asks and prompts for tests."""

from dialects.enums import Dialect
from harness.engines.base import TableText
from harness.predictors.base import Ask, DatabaseText, Message, Problem, Prompt, Role


def problem(question: str = "1", dialect: Dialect = Dialect.SQLITE, text: str = "How many?") -> Problem:
    table = TableText("t", "CREATE TABLE t (a INTEGER)", ())
    return Problem(question, text, "", DatabaseText("shop", dialect, (table,)))


def prompt(content: str = "How many?") -> Prompt:
    return Prompt((Message(Role.USER, content),), tokens=len(content), estimated=False)


def ask(question: str = "1", sample: int = 0, identity: str | None = None) -> Ask:
    each = problem(question)
    return Ask(each, prompt().messages, "sql", sample, identity or f"id-{question}-{sample}")
