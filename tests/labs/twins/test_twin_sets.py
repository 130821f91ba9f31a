"""A set that comes as schemas and golds alone: twins of its databases are loaded and scored on every engine.

`BIRD_SCHEMAS=150` takes as many schemas instead of a few: with composite and text keys, self references and
names of any kind (`tests/labs/twins/shops.py`).
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from dialects.translation import Untranslatable, translate
from harness import Answer, Evaluator
from harness.data.outcomes import Outcome
from harness.data.set_manifest import PUBLISHED
from harness.data.sets.loader import load_set
from harness.labs.twins.builder import TwinResult, make
from harness.labs.twins.sources import of_set
from harness.provision import dsn
from loaders.file_census import census
from loaders.server import Server
from tests.harness import own_sets as sets
from tests.labs.twins.shops import schema
from tests.loaders.servers import drop
from tests.sqlite_files import sqlite_file

pytestmark = [pytest.mark.engine, pytest.mark.thorough]

SCHEMAS = int(os.environ.get("BIRD_SCHEMAS", "5"))


@dataclass
class Scored:
    """What every gold, given as an answer, came to, and what was said of the loads."""

    outcomes: dict[Dialect, Counter[Outcome]]
    said: list[str] = field(default_factory=list)
    refused: dict[Dialect, list[str]] = field(default_factory=lambda: {dialect: [] for dialect in PUBLISHED})
    """The golds that no server can run as they are meant: untranslatable, or of data that none can hold."""


def made_set(folder: Path) -> Path:
    """Schemas without a row with their golds, and a manifest that names the folder of their databases."""
    asked = []
    for seed in range(SCHEMAS):
        name, each = f"made{seed}", schema(seed)
        sqlite_file(folder / "schemas" / name / f"{name}.sqlite", each.script)
        asked += [
            {
                "question_id": f"{name}-{place}",
                "db_id": name,
                "question": "?",
                "difficulty": "any",
                "SQL": gold,
            }
            for place, gold in enumerate(each.golds)
        ]
    sets.write(folder / "questions.json", asked)
    sets.write(
        folder / "benchmark.toml", 'name = "awkward"\nquestions = "questions.json"\ndatabases = "schemas"\n'
    )
    return folder


@pytest.fixture(scope="module")
def scored(
    mysql_server: Server, postgresql_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scored]:
    folder = made_set(tmp_path_factory.mktemp("awkward"))
    made = make(of_set(load_set(str(folder))), folder / "twins", workers=1)
    assert all(isinstance(one, TwinResult) for one in made)
    manifest = folder / "benchmark.toml"
    sets.write(manifest, manifest.read_text(encoding="utf-8").replace('"schemas"', '"twins"'))
    questions = load_set(str(folder))
    servers = (mysql_server, postgresql_server)
    found = Scored({})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BIRD_PROVISION", "dsn")
        for server in servers:
            url = f"{server.dialect}://{server.user}:{server.password}@{server.address}"
            patch.setenv(dsn.variable(server.dialect), url)
        answers = []
        for dialect in PUBLISHED:
            for question in questions.questions:
                sql = question.gold[Dialect.SQLITE]
                if dialect is not Dialect.SQLITE:
                    try:
                        stored = census(questions.database(question.db_id).sqlite_path)
                        sql = translate(sql, stored, dialect, as_json=False).sql
                    except (BadInput, Untranslatable) as refusal:
                        found.refused[dialect].append(f"{question.key}: {refusal}")
                answers.append(Answer(question.key, sql, dialect))
        with Evaluator(
            str(folder), dialects=list(PUBLISHED), workers=2, cache=False, say=found.said.append
        ) as one:
            judged = one.score(answers)
        for answer, judgement in zip(answers, judged, strict=True):
            assert isinstance(answer.dialect, Dialect)
            found.outcomes.setdefault(answer.dialect, Counter())[judgement.outcome] += 1
            if judgement.outcome not in {Outcome.MATCH, Outcome.GOLD_ERROR}:
                found.said.append(f"{answer}: {judgement}")
        yield found
        for server in servers:
            drop(server, questions.collection)


def test_golds_are_right_on_every_engine(scored: Scored) -> None:
    for dialect, outcomes in scored.outcomes.items():
        assert set(outcomes) <= {Outcome.MATCH, Outcome.GOLD_ERROR}, (dialect, outcomes, scored.said)
        refused = scored.refused[dialect]
        assert outcomes[Outcome.GOLD_ERROR] <= len(refused), (dialect, outcomes, scored.said, refused)
        assert outcomes[Outcome.MATCH]


def test_what_is_not_loaded_is_said_with_its_reason(scored: Scored) -> None:
    left = [line for line in scored.said if ": not loaded, so" in line]
    assert all("make the column's values alike" in line for line in left), left
