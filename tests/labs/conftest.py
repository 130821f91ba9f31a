"""Tests of labs: what those of the harness and of files have, in the same words."""

from tests.harness.conftest import Call, _quick_commands, call, first, later
from tests.loaders.conftest import make_file

__all__ = ["Call", "_quick_commands", "call", "first", "later", "make_file"]
