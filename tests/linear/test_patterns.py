"""No pattern of the project takes more than its part of the time for each character of a text.

Every pattern is found by importing everything, and attacked with texts that are made of it. Work is counted
in steps of a machine of the tests' own, so that nothing depends on a clock.
"""

import re
from functools import cache

import pytest

from tests.linear.found import Found, files, inline, patterns
from tests.linear.growth import worst

BOUNDED = ("harness.labs.predict.offline.", "harness/labs/predict/offline.py")
"""What reads questions and evidence, of which 4,000 characters are looked at (`offline.LONGEST`)."""

EXEMPT = {
    "loaders.dumps._ESCAPING": "asked at each quote alone, where it moves on",
    "harness.provision.loaded_images._VERSION": "versions in the project's own files",
    "harness.provision.loaded_images._LASTING": "the project's own configuration files",
    "harness.provision.packages._DEB": "what apt-get prints of the packages that it was asked for",
    "loaders.functions._STATEMENT": "the project's own SQL",
    "loaders.functions._TRAILING": "the project's own SQL",
    "harness/provision/packages.py": "versions of packages that apt-get has verified",
    "harness/provision/mysql.py": "what a server's program says of its version",
    "harness/provision/mariadb.py": "what a server's program says of its version",
    "harness/provision/postgresql.py": "what a server's program says of its version",
}
"""What is not reached by anybody else's text, or not searched for, and why."""

MADE = {
    "harness/engines/errors.py": "how messages begin, as tables of the engines have it; they are found there",
    "harness/labs/matrix/versions.py": "of the harness's own versions",
    "loaders/verify/tables.py": "names of types, as the tables of this module have them",
}
"""Where a pattern is made of something that is known only then, by file, and of what."""


@cache
def in_the_project() -> tuple[list[Found], set[str]]:
    """All patterns, and the files that make one of something that is known only then."""
    inside = [inline(path) for path in files()]
    found = patterns() + [one for known, _ in inside for one in known]
    return found, {place.partition(":")[0] for _, unknown in inside for place in unknown}


@pytest.mark.slow
def test_all_patterns_are_found() -> None:
    found = {one.where for one in in_the_project()[0]}
    assert len(found) > 120
    assert {"dialects.volatility._WORD", "loaders.dumps._SYNTAX"} <= found
    assert [name for name in EXEMPT if not any(where.startswith(name) for where in found)] == []


@pytest.mark.slow
@pytest.mark.thorough
def test_work_grows_with_the_length_and_no_faster() -> None:
    attacked = [one for one in in_the_project()[0] if not one.where.startswith(tuple(EXEMPT))]
    worse = {one.where: worst(one, is_bounded=one.where.startswith(BOUNDED)) for one in attacked}
    assert {where: text for where, text in worse.items() if text is not None} == {}


@pytest.mark.slow
def test_no_pattern_is_made_where_it_cannot_be_found() -> None:
    assert in_the_project()[1] == MADE.keys()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        (r"(?:^|;)(?:\s|\(|--[^\n]*\n|#[^\n]*\n|/\*.*?\*/)*(\w+)", False),
        (r"(a+)+$", True),
        (r"(?:a|a)*b", True),
        (r"\s+$", False),
        (r"a*a*b", True),
        (r"<b>.*?</b>", False),
        (r"'(?:[^']|'')*x'", False),
        (r"(x)(?:\1)*y", False),
        (rb"\d+\.?\d*$", True),
        (r"(?>a+)b", False),
        (r"\s++x", False),
        (r"(?i:SELECT.*FROM)", False),
    ],
)
def test_what_is_not_linear_is_found(pattern: str | bytes, anchored: bool) -> None:  # noqa: FBT001
    found = Found("here", re.compile(pattern, re.DOTALL), anchored)
    assert worst(found) is not None


@pytest.mark.parametrize(
    "pattern", [r"(?:\s|--[^\n]*+\n)*+z", r"\b\w++\(", r"a{1,4}b", r"(?<!x)x++$", r"^ *+$"]
)
def test_what_is_linear_is_let_pass(pattern: str) -> None:
    assert worst(Found("here", re.compile(pattern), pattern.startswith("(?:"))) is None
