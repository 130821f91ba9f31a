"""The closed list of reasons for which a test may be skipped; anything else is a failure.

With CI set in the environment nothing may be skipped: what is missing there is an error.
"""

import os
import textwrap
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NoReturn

import pytest

LINE = 160
"""Characters of a line that says what was not tested."""


class Reason(StrEnum):
    NO_MYSQL = "no MySQL server could be found or started"
    NO_POSTGRESQL = "no PostgreSQL server could be found or started"
    NO_MARIADB = "no MariaDB server could be found or started"
    NO_DOCKER = "no Docker engine answers, or it has no image of the server"
    NO_APT = "this system has no apt-get and dpkg-deb"
    NO_MOUNT = "this account may not mount a small file system for a server to fill"
    NO_CHROMIUM = "no chromium is installed"
    NO_NODE = "no node and npm are installed, or no package registry answers"
    NO_REGISTRY = "no package registry answers"
    NO_TEX = "no pdflatex or tectonic is installed"
    NO_FRAMEWORKS = "requirements/adapters.txt cannot be installed, or no package index answers"
    NO_BIRD_DATA = "BIRD_HOME does not name the published data with the figures expected of it"


def skip(reason: Reason, detail: str) -> NoReturn:
    """Skip the test, or fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}: {detail}", pytrace=False)
    pytest.skip(f"{reason}: {detail}")


def not_tested(skips: Iterable[str]) -> list[str]:
    """A line for each reason, with the number of tests and what was said most often.

    Args:
        skips: what pytest says of each test that was skipped. What is not of the list gets a line, too.
    """
    details: dict[tuple[str, str], Counter[str]] = {}
    for text in skips:
        said = text.removeprefix("Skipped: ")
        found = next((reason for reason in Reason if said.startswith(reason)), None)
        named, detail = (
            ("UNKNOWN", "for no known reason") if found is None else (found.name, found.value),
            said if found is None else said.removeprefix(f"{found}: "),
        )
        details.setdefault(named, Counter())[detail] += 1
    return [
        textwrap.shorten(
            f"NOT TESTED: {name}: {_tests(counted.total())}: {words}: {counted.most_common(1)[0][0]}",
            LINE,
            placeholder=" ...",
        )
        for (name, words), counted in sorted(details.items())
    ]


def _tests(count: int) -> str:
    return f"{count} test{'' if count == 1 else 's'}"
