"""The pytest plugin's options; what they start is in `harness.pytest_driver`.

    pytest --bird-predictions FILE_OR_FOLDER --bird-set mini_dev --bird-dialect all

Installed as a `pytest11` entry point, this module is imported by every pytest run of the environment, so
it imports nothing of the harness until `--bird-predictions` turns the evaluation on.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.plan import Request


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options; they mean what `bird-harness eval --help` says of the same names."""
    group = parser.getgroup("bird", "text-to-SQL evaluation (bird-harness)")
    group.addoption("--bird-predictions", action="append", default=[], metavar="PATH",
                    help="prediction file or folder; turns the evaluation on (repeatable)")  # fmt: skip
    group.addoption("--bird-set", default="sample", metavar="SET", help="question set (default: sample)")
    group.addoption("--bird-dialect", default="auto", metavar="DIALECT",
                    help="sqlite, mysql, postgresql, all, or auto: every engine that is up")  # fmt: skip
    group.addoption("--bird-metrics", default=None, metavar="NAMES", help="metrics, separated by commas")
    group.addoption("--bird-variants", default=None, metavar="FOLDER|N", help="variants of the databases")
    group.addoption("--bird-profile", default="official", choices=["official", "faithful"])
    group.addoption(
        "--bird-workers", type=int, default=None, metavar="N", help="processes (default: one a core)"
    )
    group.addoption("--bird-limit", type=int, default=None, metavar="N", help="first N questions only")
    group.addoption("--bird-extract", default="none", choices=["none", "fences"])
    group.addoption("--bird-allow-missing", action="store_true", help="score what is there")
    group.addoption(
        "--bird-no-cache", action="store_true", help="neither use nor keep what earlier runs have found"
    )
    group.addoption("--bird-out", default="results", metavar="DIR", help="parent of run folders")


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the run that the options ask for, if they ask for one."""
    if not config.getoption("--bird-predictions"):
        return
    from harness.errors import EngineUnavailable, HarnessError  # noqa: PLC0415 - see the module's docstring
    from harness.plan import prepare  # noqa: PLC0415
    from harness.pytest_driver import Driver, refuse_distributed  # noqa: PLC0415

    try:
        plan = prepare(_request(config), say=print)
        refuse_distributed(plan, config)
    except EngineUnavailable as error:
        pytest.exit(str(error), returncode=error.exit_code)
    except HarnessError as error:
        raise pytest.UsageError(str(error)) from error
    config.pluginmanager.register(Driver(plan), "bird-driver")


def _request(config: pytest.Config) -> "Request":
    from harness.metrics import DEFAULT_METRICS  # noqa: PLC0415
    from harness.plan import Request, parse_dialects, parse_metrics  # noqa: PLC0415
    from harness.predictions import Extract  # noqa: PLC0415
    from harness.words import Profile  # noqa: PLC0415

    metrics = config.getoption("--bird-metrics")
    return Request(
        set_name=config.getoption("--bird-set"),
        predictions=[Path(path) for path in config.getoption("--bird-predictions")],
        dialects=parse_dialects(config.getoption("--bird-dialect")),
        extract=Extract(config.getoption("--bird-extract")),
        allow_missing=config.getoption("--bird-allow-missing"),
        metrics=DEFAULT_METRICS if metrics is None else parse_metrics(metrics),
        variants=config.getoption("--bird-variants"),
        profile=Profile(config.getoption("--bird-profile")),
        limit=config.getoption("--bird-limit"),
        out=Path(config.getoption("--bird-out")),
        workers=config.getoption("--bird-workers"),
        cache=not config.getoption("--bird-no-cache"),
    )
