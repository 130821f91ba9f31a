"""The closed list of reasons for which a test may be skipped; anything else is a failure.

With CI set in the environment nothing may be skipped: what is missing there is an error.
"""

import os
from enum import StrEnum
from typing import NoReturn

import pytest


class Reason(StrEnum):
    NO_MYSQL = "no MySQL server could be found or started"
    NO_POSTGRESQL = "no PostgreSQL server could be found or started"
    NO_DOCKER = "no Docker engine answers, or it has no image of the server"
    NO_APT = "this system has no apt-get and dpkg-deb"
    NO_MOUNT = "this account may not mount a small file system for a server to fill"
    NO_CHROMIUM = "no chromium is installed"
    NO_NODE = "no node and npm are installed, or no package registry answers"
    NO_BIRD_DATA = "BIRD_HOME does not name the published data with the figures expected of it"


def skip(reason: Reason, detail: str) -> NoReturn:
    """Skip the test, or fail it in CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}: {detail}", pytrace=False)
    pytest.skip(f"{reason}: {detail}")
