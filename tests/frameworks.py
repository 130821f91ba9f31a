"""The packages of adapters that are not installed here: see tests/harness/adapters/test_frameworks.py."""

FRAMEWORKS = ("inspect_ai", "lm_eval", "openenv", "verifiers")
"""Each is the name of a module of `harness.adapters`, too, which cannot be imported here."""
