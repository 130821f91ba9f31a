"""Queries written otherwise with provably the same rows: the second stage of BIRD's two-stage optimization.

`RULES` has one row for each rule. `rewrite` applies them to a text, `proven` runs both texts and compares the
rows.
"""

from harness.labs.study.rewriting.proof import RewritingProof, held_keys, proven
from harness.labs.study.rewriting.rewriter import (
    RULES,
    Considered,
    Rewritten,
    Rule,
    consider,
    consider_all,
    rewrite,
)
from harness.sqltree.query import Fact

__all__ = [
    "RULES",
    "Considered",
    "Fact",
    "RewritingProof",
    "Rewritten",
    "Rule",
    "consider",
    "consider_all",
    "held_keys",
    "proven",
    "rewrite",
]
