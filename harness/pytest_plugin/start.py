"""Register the driver that the plugin's options request, or report in one line what is wrong with them."""

from dataclasses import replace

import pytest

from dialects.enums import Profile
from dialects.errors import HarnessError
from harness.pytest_plugin.pairs import PairItems, parse_fail_on, refuse_distributed
from harness.session.options import OPTIONS, as_in_pytest
from harness.session.plan import prepare
from harness.session.request import Request
from loaders.base.errors import EngineUnavailable
from loaders.base.files import one_line


def start(config: pytest.Config) -> None:
    """Register the driver that the options request.

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
    # The translator is slow to import, and only coverage needs it.
    from harness.pytest_plugin.coverage import CoverageRunner  # noqa: PLC0415

    request = request_of(config)
    if config.getoption("--bird-profile") is None:
        request = replace(request, profile=Profile.FAITHFUL)
    return CoverageRunner(request)


def request_of(config: pytest.Config) -> Request:
    """Return the request of the options.

    Raises:
        BadInput: an option is wrong.
    """
    given = {name: config.getoption(each.pytest_flag) for name, each in OPTIONS.items()}
    given |= {name: not given[name] for name, each in OPTIONS.items() if each.off}
    # Listing the items completes nothing.
    return Request.of({**given, "resume": None} if config.option.collectonly else given)
