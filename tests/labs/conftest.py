"""Tests of labs: what those of the harness have, in the same words."""

from tests.harness.conftest import Call, _quick_commands, call, first, later

__all__ = ["Call", "_quick_commands", "call", "first", "later"]
