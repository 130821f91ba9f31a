"""What an evaluation can be told, each option once: what it is called, what it means, and its range.

The command line and the pytest plugin make their options of this table. `harness.session.request.Request` has
its types and checks its ranges, and refusals name the option as it was given. Every pytest run of an
environment imports this module with the plugin, so it imports nothing.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """One option of an evaluation.

    `flag` is its name on the command line, behind `--`; the plugin's is the same behind `--bird-`. `help` is
    a sentence; `in_pytest` takes its place where the plugin has to say more. `range` is least and most, and
    the unit that both are counted in. `off` is what the plugin says of leaving out what is on by default.
    `of_predictions`: it means nothing without prediction files.
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
    of_predictions: bool = False

    @property
    def pytest_flag(self) -> str:
        """What the plugin calls it."""
        return f"--bird-{'no-' if self.off else ''}{self.flag}"

    def of_pytest(self) -> dict[str, Any]:
        """What pytest is told of it."""
        text = self.in_pytest or self.off or self.help.removesuffix(".")
        text = text[0].lower() + text[1:] if text[1:2].islower() else text
        about: dict[str, Any] = {"help": f"{text} (default: {self.default})" if self.default else text}
        if self.kind is bool:
            return {"action": "store_true", **about}
        if self.repeatable:
            return {"action": "append", "default": [], "metavar": self.metavar, **about}
        if self.choices:
            return {"choices": list(self.choices), "default": self.default or None, **about}
        # pytest --help asks for values before argparse has given defaults their types.
        default = self.kind(self.default) if self.default else None
        typed = {} if self.kind is str else {"type": self.kind}
        return {"metavar": self.metavar, "default": default, **typed, **about}


OPTIONS: Mapping[str, Option] = {
    "predictions": Option(
        "predictions", "Prediction file or folder; repeatable. Default: the sample's own.", "PATH",
        repeatable=True, in_pytest="prediction file or folder; turns the evaluation on (repeatable)",
    ),
    "set_name": Option(
        "set", "sample, mini_dev, mini_dev_2025, dev, train, ... (docs/how-to/data.md), or a path.", "SET",
        "sample",
    ),
    "dialects": Option(
        "dialect", "sqlite, mysql, postgresql, all, or auto: every engine that is up.", "DIALECT", "auto"
    ),
    "golds": Option(
        "gold", "Gold pack, file or folder; `published` is the set's own. Repeatable: a run each.", "PACK",
        repeatable=True, in_pytest="gold pack, file or folder (default: the set's own golds)",
    ),
    "reference": Option(
        "reference", "Hold answers on servers against gold there, or against SQLite's rows, by value.",
        default="gold", choices=("gold", "sqlite"), of_predictions=False,
    ),
    "predictor": Option(
        "predictor", "Predictor of all files, instead of their names'.", "NAME", of_predictions=True
    ),
    "extract": Option(
        "extract", "Take SQL out of Markdown fences, or run it as it is.", default="none",
        choices=("none", "fences"),
    ),
    "allow_missing": Option("allow-missing", "Score what is there.", kind=bool, of_predictions=True),
    "metrics": Option("metrics", "Metrics, separated by commas.", "NAMES"),
    "variants": Option(
        "variants", "For ts: a folder of variants of the databases, or how many to generate.", "FOLDER|N",
        of_predictions=True,
    ),
    "profile": Option(
        "profile", "How the databases are loaded.", choices=("official", "faithful"),
        in_pytest="how the databases are loaded (default: official, for coverage faithful)",
    ),
    "workers": Option(
        "workers", "Processes that judge. Default: one a core, on Ray all of the cluster.", "N",
        range=(1, 64, "processes"), kind=int,
    ),
    "limit": Option(
        "limit", "Only the first N questions.", "N", range=(1, 1_000_000, "questions"), kind=int
    ),
    "db_ids": Option(
        "db", "Only the questions about this database; repeatable.", "NAME", repeatable=True,
        of_predictions=True,
    ),
    "difficulties": Option(
        "difficulty", "Only the questions of this level; repeatable.", "LEVEL", repeatable=True,
        of_predictions=True,
    ),
    "types": Option(
        "type", "Only questions of this type (match, ranking, ...); repeatable.", "TYPE", repeatable=True,
        of_predictions=True,
    ),
    "keys": Option(
        "question", "Only the question of this id; repeatable.", "ID", repeatable=True, of_predictions=True
    ),
    "sample": Option(
        "sample", "Only N questions, drawn so that databases and difficulties keep their shares.", "N",
        range=(1, 1_000_000, "questions"), kind=int, of_predictions=True,
    ),
    "seed": Option("seed", "What decides which are drawn.", "N", "0", kind=int, of_predictions=True),
    # Engines count milliseconds, and 0 means no limit to them. The most is a day.
    "seconds": Option(
        "timeout", "Seconds for a prediction and its gold together.", "SECONDS",
        range=(0.001, 86_400, "seconds"), kind=float,
    ),
    "out": Option("out", "Parent of the run's folder.", "DIR", "results"),
    "resume": Option(
        "resume", "Complete the run in this folder, which says the rest of the command.", "FOLDER",
        of_predictions=True,
    ),
    "cache": Option(
        "cache", "Use and keep what is known from earlier runs.", kind=bool,
        off="neither use nor keep what earlier runs have found",
    ),
    "report": Option(
        "report", "Write tables and report.html into the run folder.", kind=bool,
        off="only the run folder's data, no tables and pages",
    ),
    "fail_under": Option(
        "fail-under", "Exit with 1 where a total is below; of EX, if no metric is named; repeatable.",
        "[METRIC=]PERCENT", repeatable=True, of_predictions=True,
    ),
    "tables": Option(
        "tables", "What is printed of the tables. Default: totals on a terminal, else all.",
        choices=("totals", "all"), of_predictions=True,
    ),
    "ray": Option(
        "ray", "Spread the run over a Ray cluster, or `local`.", "ADDRESS", of_predictions=True
    ),
}  # fmt: skip
"""The options by the field of `Request` that each is."""

_NAMED = re.compile(r"`(?:bird-harness|make) [^`]*`|(?<![\w-])--([a-z-]+)")
"""A command, whose options are its own, or an option."""


def as_in_pytest(message: str) -> str:
    """A message about options with the names that the plugin gives them."""
    names = {each.flag: each.pytest_flag for each in OPTIONS.values()}
    return _NAMED.sub(lambda found: names.get(found[1], found[0]), message)
