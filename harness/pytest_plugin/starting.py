"""From the plugin's options to a driver that is registered, or one line about what is wrong with them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Profile
from dialects.errors import HarnessError
from harness.data.predictions import Extract
from harness.pytest_plugin.pairs import PairItems, parse_fail_on, refuse_distributed
from harness.session.options import as_in_pytest
from harness.session.plan import prepare
from harness.session.request import Request, ShownTables, parse_dialects, parse_metrics
from loaders.base.errors import EngineUnavailable
from loaders.base.files import one_line


def start(config: pytest.Config) -> None:
    """Register the driver that the options ask for.

    Raises:
        pytest.UsageError: an option is wrong.
    """
    try:
        driver = _coverage(config) if config.getoption("--bird-coverage") else _evaluation(config)
    except EngineUnavailable as error:
        pytest.exit(as_in_pytest(str(error)), returncode=error.exit_code)
    except HarnessError as error:
        raise pytest.UsageError(as_in_pytest(one_line(str(error)))) from error
    config.pluginmanager.register(driver, "bird-driver")


def _evaluation(config: pytest.Config) -> PairItems:
    request = request_of(config)
    fail_on = config.getoption("--bird-fail-on")
    outcomes = () if fail_on is None else parse_fail_on(fail_on)
    plan = prepare(request, say=lambda line: print(as_in_pytest(line)))  # noqa: T201 - pytest is yet to begin
    try:
        refuse_distributed(plan, config)
        return PairItems(plan, outcomes, in_pytest=True)
    except BaseException:
        plan.close()
        raise


def _coverage(config: pytest.Config) -> object:
    # Translating is slow to import, and nothing else needs it.
    from harness.pytest_plugin.coverage import CoverageRunner  # noqa: PLC0415

    request = request_of(config)
    if config.getoption("--bird-profile") is None:
        request = replace(request, profile=Profile.FAITHFUL)
    return CoverageRunner(request)


def request_of(config: pytest.Config) -> Request:
    """What the options ask for.

    Raises:
        BadInput: one is wrong.
    """
    option = config.getoption
    metrics, profile = option("--bird-metrics"), option("--bird-profile")
    seconds, resume = option("--bird-timeout"), option("--bird-resume")
    tables = option("--bird-tables")
    # What is not given is as the library has it.
    given: dict[str, Any] = {
        "metrics": None if metrics is None else parse_metrics(metrics),
        "profile": None if profile is None else Profile(profile),
        "seconds": seconds,
        # Looking at the items completes nothing.
        "resume": None if resume is None or config.option.collectonly else Path(resume),
    }
    return Request(
        set_name=option("--bird-set"),
        predictions=[Path(path) for path in option("--bird-predictions")],
        dialects=parse_dialects(option("--bird-dialect")),
        golds=option("--bird-gold"),
        reference=option("--bird-reference"),
        predictor=option("--bird-predictor"),
        extract=Extract(option("--bird-extract")),
        allow_missing=option("--bird-allow-missing"),
        variants=option("--bird-variants"),
        limit=option("--bird-limit"),
        db_ids=option("--bird-db"),
        difficulties=option("--bird-difficulty"),
        keys=option("--bird-question"),
        sample=option("--bird-sample"),
        seed=option("--bird-seed"),
        out=Path(option("--bird-out")),
        workers=option("--bird-workers"),
        cache=not option("--bird-no-cache"),
        ray=option("--bird-ray"),
        report=not option("--bird-no-report"),
        fail_under=option("--bird-fail-under"),
        tables=None if tables is None else ShownTables(tables),
        **{name: value for name, value in given.items() if value is not None},
    )
