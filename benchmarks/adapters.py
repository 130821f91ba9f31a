"""Compare the scores of library, reward server and every adapter with those of `eval`, and time them.

The tests of adapters do so for the sample's answers on SQLite. This is the same for other sets and engines:
`bird-harness eval` judges predictions, and each way judges them again, in another process with an empty
result cache. Left out are answers without a score, because nothing could judge them, those that a limit of
time ended, and questions that are asked twice: a scripted model knows a question by its prompt. Servers have
to be up.

Each way is timed twice: *new* with an empty result cache, *known* with the cache of that time. The time
includes an evaluator or server that starts, and whatever the framework does for each answer, such as an
episode of an environment; not its import.

    python -m benchmarks.adapters --set mini_dev --predictions FOLDER --dialect sqlite,mysql,postgresql
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.options import Predictions, SetName
from benchmarks.serving import served
from dialects.errors import HarnessError
from harness import Answer
from harness.data.outcomes import Judgement, Outcome, PairResult
from harness.data.sets.loader import load_set
from harness.engines.execution import Limits
from harness.runs.reader import LATEST, read_results
from harness.serve.client import ScoreClient
from harness.session.request import parse_dialects
from loaders.base.records import encode
from loaders.sample import PREDICTIONS
from tests.frameworks import FRAMEWORKS
from tests.harness.adapters.conftest import EVALUATED, Reference, open_evaluator
from tests.harness.adapters.test_frameworks import run

_HERE = Path(__file__).parents[1] / "tests"
_JUDGED = [each.name for each in fields(Judgement)]
_PYTEST = (
    "-m", "pytest", "-q", "--durations=0", "--noconftest", "-p", "tests.harness.adapters.conftest",
    "-p", "no:cacheprovider", "-o", "filterwarnings=default",
)  # fmt: skip


def _library(reference: Reference) -> Sequence[Mapping[str, float]]:
    with open_evaluator(reference) as evaluator:
        judged = evaluator.score([Answer(key, sql) for key, sql, _ in reference.answers])
    return [each.scores for each in judged]


def _server(reference: Reference) -> Sequence[Mapping[str, float]]:
    where = ("--set", reference.set_name, "--dialect", reference.dialect, "--queue", "100000")
    sent = [{"question": key, "sql": sql} for key, sql, _ in reference.answers]
    with served(*where) as server, ScoreClient(server.address) as client:
        return [each["scores"] for each in client.score(sent)]


DIRECT: Mapping[str, Callable[[Reference], Sequence[Mapping[str, float]]]] = {
    "library": _library, "server": _server,
}  # fmt: skip
TESTS = {
    "TRL": "harness/adapters/test_rewards.py::test_trl_calls_it_so",
    "verl": "harness/adapters/test_rewards.py::test_verl_calls_them_so",
    "SkyRL": "harness/adapters/test_rewards.py::test_skyrl_judges_as_eval_does",
    "MCP": "labs/mcp/test_mcp.py::test_scores_are_those_of_eval_where_they_are_offered",
}
WAYS = (*DIRECT, *TESTS, *FRAMEWORKS)


_CALL = re.compile(r"^([\d.]+)s call ", re.MULTILINE)
"""A line of pytest's about how long a test took, without what it was given."""


def _tried(way: str, reference: Reference, place: Path) -> float:
    """Return the seconds that a way takes.

    Raises:
        AssertionError: its scores differ, with the words about how.
    """
    if way in DIRECT:
        started = time.perf_counter()
        found = DIRECT[way](reference)
        seconds = time.perf_counter() - started
        compared = zip(reference.answers, found, strict=True)
        different = [key for (key, _, judgement), scores in compared if scores != judgement.scores]
        if different:
            raise AssertionError(f"questions {', '.join(different)}")
        return seconds
    if way in TESTS:
        command = [sys.executable, *_PYTEST, str(_HERE / TESTS[way])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        said = done.stdout
    else:
        path = _HERE / "harness" / "adapters" / "frameworks" / f"{way}.py"
        said = run(way, place, *_PYTEST, f"{path}::test_scores_are_those_of_eval")
    return sum(map(float, _CALL.findall(said)))


def _is_comparable(outcome: Outcome) -> bool:
    return outcome.is_predictors and outcome is not Outcome.PREDICTION_TIMEOUT


def _evaluated(
    set_name: str, predictions: Sequence[Path], dialect: str, folder: Path
) -> Sequence[PairResult]:
    """Return what `bird-harness eval` says of predictions."""
    words = [word for each in predictions for word in ("--predictions", str(each))]
    where = ("--set", set_name, "--dialect", dialect, "--out", str(folder))
    command = ["eval", *where, "--extract", "fences", *words]
    subprocess.run([sys.executable, "-m", "harness", *command], check=True, stdout=subprocess.DEVNULL)
    return list(read_results(folder / LATEST))


def main(
    set_name: SetName = "sample",
    predictions: Predictions = None,
    dialect: Annotated[str, typer.Option(help="Engines, separated by commas.")] = "sqlite",
    answers: Annotated[int, typer.Option(help="Answers on each engine.", min=1)] = 2_000,
    ways: Annotated[str, typer.Option(help="Ways, separated by commas.")] = ",".join(WAYS),
) -> None:
    """Print a row for each engine and way, with answers a second; exit with 1 if scores differ."""
    faults = list[str]()
    texts = {each.key: (each.db_id, each.text, each.evidence) for each in load_set(set_name).questions}
    times = Counter(texts.values())
    once = {key for key, text in texts.items() if times[text] == 1}
    print("| engine | way | answers | equal scores | new/s | known/s |\n|---|---|--:|---|--:|--:|")
    for engine in parse_dialects(dialect) or ():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            os.environ["BIRD_STORE"] = str(folder / "eval.sqlite")
            results = _evaluated(set_name, predictions or [PREDICTIONS], engine, folder / "results")
            chosen = [
                (each.question, each.sql, Judgement(**{name: getattr(each, name) for name in _JUDGED}))
                for each in results
                if each.sql is not None and _is_comparable(each.outcome) and each.question in once
            ][:answers]
            reference = Reference(set_name, engine, Limits.seconds, chosen)
            os.environ[EVALUATED] = str(folder / "evaluated.json")
            (folder / "evaluated.json").write_bytes(encode(reference))
            for way in ways.split(","):
                os.environ["BIRD_STORE"] = str(folder / f"{way}.sqlite")
                place = folder / way
                place.mkdir()
                try:
                    rates = [f"{len(chosen) / _tried(way, reference, place):,.0f}" for _ in range(2)]
                except AssertionError as error:
                    faults.append(f"{way} on {engine}: {error}")
                    rates = ["", ""]
                equal = "yes" if all(rates) else "no"
                print(f"| {engine} | {way} | {len(chosen)} | {equal} | {' | '.join(rates)} |", flush=True)
    if faults:
        raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    try:
        typer.run(main)
    except HarnessError as error:
        raise SystemExit(str(error)) from error
