"""What the adapters are compared with, in the same words."""

from tests.harness.adapters.conftest import evaluated, taken

__all__ = ["evaluated", "taken"]
