"""The options of an evaluation, each defined once: its name, its help and its range.

The command line and the pytest plugin build their options from this table. `harness.session.request.Request`
has the types and checks the ranges, and its errors name the option as the user gave it. Every pytest run of
an environment imports this module with the plugin, so it imports nothing of the harness.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialects.enums import Dialect


@dataclass(frozen=True)
class Option:
    """One option of an evaluation.

    `flag` is its name on the command line, after `--`; the plugin's is the same after `--bird-`. `help` is
    a sentence; `in_pytest` replaces it where the plugin must say more. `range` is the minimum, the maximum
    and their unit. `off` is the plugin's help of the `--bird-no-` form of an option that is on by default.
    `needs_predictions`: it has no effect without prediction files.
    """

    flag: str
    help: str
    metavar: str | None = None
    default: str = ""
    choices: tuple[str, ...] = ()
    range: tuple[float, float, str] | None = None
    kind: type = str
    repeatable: bool = False
    in_pytest: str | None = None
    off: str | None = None
    needs_predictions: bool = False

    @property
    def pytest_flag(self) -> str:
        """Its name in the plugin."""
        return f"--bird-{'no-' if self.off else ''}{self.flag}"

    def pytest_arguments(self) -> dict[str, Any]:
        """Return the arguments for pytest's `addoption`."""
        text = self.in_pytest or self.off or self.help.removesuffix(".")
        text = text[0].lower() + text[1:] if text[1:2].islower() else text
        about: dict[str, Any] = {"help": f"{text} (default: {self.default})" if self.default else text}
        if self.kind is bool:
            return {"action": "store_true", **about}
        if self.repeatable:
            return {"action": "append", "default": [], "metavar": self.metavar, **about}
        if self.choices:
            return {"choices": list(self.choices), "default": self.default or None, **about}
        # pytest --help reads values before argparse has converted the defaults.
        default = self.kind(self.default) if self.default else None
        typed = {} if self.kind is str else {"type": self.kind}
        return {"metavar": self.metavar, "default": default, **typed, **about}


OPTIONS: Mapping[str, Option] = {
    "predictions": Option(
        "predictions", "Prediction file or folder; repeatable. Default: those of the sample.", "PATH",
        repeatable=True, in_pytest="prediction file or folder; turns the evaluation on (repeatable)",
    ),
    "set_name": Option(
        "set", "sample, mini_dev, mini_dev_2025, dev, train, ... (docs/how-to/data.md), or a path.", "SET",
        "sample",
    ),
    "dialects": Option(
        "dialect", f"{', '.join(Dialect)}, or several with commas; all: those that are started by"
        " default; auto: every engine that is up.",
        "DIALECT", "auto",
    ),
    "golds": Option(
        "gold", "Gold pack (a set's corrected golds), file or folder; `published`: the set's golds."
        " Repeatable: one run each.", "PACK",
        repeatable=True, in_pytest="gold pack, file or folder (default: the set's own golds)",
    ),
    "reference": Option(
        "reference", "Compare answers on servers with gold there, or by value with SQLite's rows.",
        "gold|sqlite", default="gold", choices=("gold", "sqlite"), needs_predictions=False,
    ),
    "predictor": Option(
        "predictor", "Predictor of all files, instead of the one in their names.", "NAME",
        needs_predictions=True,
    ),
    "extract": Option(
        "extract", "How SQL is taken out of answers: none runs them as they are, fences takes the first code"
        " block, answer-1 the query by the rules of docs/reference/extraction.md.", default="none",
        choices=("none", "fences", "answer-1"),
    ),
    "answer_keys": Option(
        "keys", "Keys of the records of prediction files, where they are none of the known ones"
        " (docs/reference/file-formats.md).", "FIELD=KEY,...", needs_predictions=True,
    ),
    "allow_missing": Option(
        "allow-missing", "Score files that lack answers; those count as missing.", kind=bool,
        needs_predictions=True,
    ),
    "metrics": Option("metrics", "Metrics, separated by commas.", "NAMES"),
    "variants": Option(
        "variants", "For ts, ts_spider: folder of database variants, or the number to generate.", "FOLDER|N",
        needs_predictions=True,
    ),
    "profile": Option(
        "profile",
        "Types on servers: official, as in BIRD's dumps; faithful, SQLite's exact values, dates as texts.",
        choices=("official", "faithful"),
        in_pytest="profile to load the databases in (default: official; for coverage: faithful)",
    ),
    "workers": Option(
        "workers", "Number of judging processes. Default: one per core, on Ray of the cluster.", "N",
        range=(1, 64, "processes"), kind=int,
    ),
    "limit": Option(
        "limit", "Only the first N questions.", "N", range=(1, 1_000_000, "questions"), kind=int
    ),
    "db_ids": Option(
        "db", "Only questions about this database; repeatable.", "NAME", repeatable=True,
        needs_predictions=True,
    ),
    "difficulties": Option(
        "difficulty", "Only questions of this difficulty; repeatable.", "LEVEL", repeatable=True,
        needs_predictions=True,
    ),
    "types": Option(
        "type", "Only questions of this type: match, ranking, comparison, counting, aggregation,"
        " domain_knowledge, numeric_computation, synonym, value_illustration, or the set's own; repeatable.",
        "TYPE", repeatable=True, needs_predictions=True,
    ),
    "keys": Option(
        "question", "Only the question with this id; repeatable.", "ID", repeatable=True,
        needs_predictions=True,
    ),
    "sample": Option(
        "sample", "Random sample of N questions, stratified by database and difficulty.", "N",
        range=(1, 1_000_000, "questions"), kind=int, needs_predictions=True,
    ),
    "seed": Option("seed", "Seed of --sample.", "N", "0", kind=int, needs_predictions=True),
    # Engines count in milliseconds, where 0 means no limit. The maximum is a day.
    "seconds": Option(
        "timeout", "Time limit in seconds for a prediction and its gold together.", "SECONDS",
        range=(0.001, 86_400, "seconds"), kind=float,
    ),
    "now": Option(
        "now", "Moment in UTC that golds and predictions take for the present, such as 2025-02-19 or"
        " '2025-02-19 10:30:00'. Default: the clock.", "DATE[ TIME]",
    ),
    "repeat": Option(
        "repeat", "Time r_ves, r_ves_documented and ves N times; tables have the best run, and the spread."
        " Default: once.",
        "N", range=(1, 100, "runs"), kind=int, needs_predictions=True,
    ),
    "overrides": Option(
        "overrides", "Folder of hand-written translations of single golds (dialects/overrides/README.md).",
        "FOLDER",
    ),
    "out": Option("out", "Folder to create the run folder in.", "DIR", "results"),
    "resume": Option(
        "resume", "Complete the interrupted run in this folder, with its options.", "FOLDER",
        needs_predictions=True,
    ),
    "cache": Option(
        "cache", "Use and fill the result cache.", kind=bool,
        off="do not use or fill the result cache",
    ),
    "report": Option(
        "report", "Write tables and report.html to the run folder.", kind=bool,
        off="write no tables and pages to the run folder",
    ),
    "fail_under": Option(
        "fail-under", "Exit with 1 if a total is lower; a bare number means EX. Repeatable.",
        "[METRIC=]PERCENT", repeatable=True, needs_predictions=True,
    ),
    "tables": Option(
        "tables", "Tables to print. Default: totals on a terminal, else all.",
        choices=("totals", "all"), needs_predictions=True,
    ),
    "ray": Option(
        "ray", "Distribute the run over a Ray cluster, or `local`.", "ADDRESS", needs_predictions=True
    ),
}  # fmt: skip
"""The options, by field of `Request`."""

_NAMED = re.compile(r"`(?:bird-harness|make) [^`]*`|(?<![\w-])--([a-z-]+)")
"""A command, whose options stay as they are, or an option."""


def as_in_pytest(message: str) -> str:
    """Rewrite a message about options to the names they have in the plugin."""
    names = {each.flag: each.pytest_flag for each in OPTIONS.values()}
    return _NAMED.sub(lambda found: names.get(found[1], found[0]), message)
