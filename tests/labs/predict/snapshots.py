"""The prompts that were read and found good, as files beside this one.

`python -m tests.labs.predict.snapshots` writes them anew, from servers that it starts; what has
changed is then to be read again.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from dialects.enums import Dialect
from harness import provision
from harness.data.descriptions import description_folder
from harness.data.questions import Question, QuestionSet
from harness.data.sets.loader import load_set
from harness.engines import dialect_of, on_server
from harness.engines.base import Engine
from harness.engines.sqlite.engine import SQLiteEngine
from harness.labs.predict.methods import make_method
from harness.predictors.base import Problem, Prompt
from harness.predictors.prompts import PromptOptions, open_prompter, show
from harness.predictors.schema import describe, read_database
from loaders.bulk_load import load
from loaders.namespace import Database
from loaders.server import Server

FOLDER = Path(__file__).with_name("snapshots")
COLLECTION = "bird_snapshots"

VERSIONS = {Dialect.SQLITE: "3.46", Dialect.MYSQL: "9.7", Dialect.POSTGRESQL: "18", Dialect.DUCKDB: "2.0"}
"""What the snapshots say, whatever server they are from."""

QUESTION = "55"
PLAN = """alerts = rows.where(lifted, IS NULL)
answer = alerts.select(stations.name)"""

ROWS = 2
OPTIONS: Mapping[str, PromptOptions] = {
    "direct": PromptOptions(),
    "direct-no-knowledge": PromptOptions(knowledge=False),
    "direct-thinking": PromptOptions(chain_of_thought=True),
    "direct-thinking-no-knowledge": PromptOptions(chain_of_thought=True, knowledge=False),
    "direct-rows": PromptOptions(rows=ROWS),
    "direct-descriptions": PromptOptions(descriptions=True),
    "direct-everything": PromptOptions(chain_of_thought=True, descriptions=True, rows=ROWS),
    "direct-shortened": PromptOptions(
        chain_of_thought=True, descriptions=True, rows=ROWS, max_prompt_tokens=350
    ),
}


def snapshots(dialect: Dialect, server: Server | None) -> Iterator[tuple[str, str]]:
    """The names of files with the texts that they are to have."""
    questions = load_set("sample", None)
    question = questions.by_key[QUESTION]
    engine = _engine(server, questions)
    for name, options in OPTIONS.items():
        problem = _problem(questions, question, engine, options)
        _, prompt = next(make_method("direct", options).stages(problem))
        yield f"{name}_{dialect}.txt", show(prompt)
    options = PromptOptions(descriptions=True, rows=ROWS)
    problem = _problem(questions, question, engine, options)
    for stage, prompt in _stages(problem, options, question.gold[dialect]):
        yield f"ta-sql-{stage}_{dialect}.txt", show(prompt)
    for stage, prompt in _stages(problem, options, "I am sorry, but I do not know."):
        if stage == "synthesis":
            yield f"ta-sql-{stage}-of-no-draft_{dialect}.txt", show(prompt)
    tell = open_prompter(options).correction
    yield f"correction_{dialect}.txt", f"{tell(dialect, 'no such column: T1.liftd')}\n"
    yield f"correction-of-no-sql_{dialect}.txt", f"{tell(dialect, None)}\n"


def _engine(server: Server | None, questions: QuestionSet) -> Engine:
    if server is None:
        return SQLiteEngine()
    load([_place(questions)], server)
    return on_server(server)


def _place(questions: QuestionSet) -> Database:
    database = questions.database(questions.by_key[QUESTION].db_id)
    return replace(database, collection=COLLECTION)


def _problem(questions: QuestionSet, question: Question, engine: Engine, options: PromptOptions) -> Problem:
    database = read_database(engine, _place(questions), rows=options.rows)
    if options.descriptions:
        database = describe(database, description_folder(questions.databases, question.db_id))[0]
    database = replace(database, version=VERSIONS[dialect_of(database.dialect)])
    return Problem(question.key, question.text, question.evidence if options.knowledge else "", database)


def _stages(problem: Problem, options: PromptOptions, draft: str) -> list[tuple[str, Prompt]]:
    stages = make_method("ta-sql", options).stages(problem)
    return [next(stages), stages.send(draft), stages.send(PLAN)]


def main() -> None:
    for dialect in VERSIONS:
        if dialect is Dialect.SQLITE:
            _write(dialect, None)
        else:
            with provision.throwaway(dialect) as server:
                _write(dialect, server)


def _write(dialect: Dialect, server: Server | None) -> None:
    FOLDER.mkdir(exist_ok=True)
    texts = dict(snapshots(dialect, server))
    for path in FOLDER.glob(f"*_{dialect}.txt"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{dialect}: {len(texts)} prompts in {FOLDER}\n")


if __name__ == "__main__":
    main()
