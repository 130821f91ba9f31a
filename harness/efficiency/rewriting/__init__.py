"""Queries written otherwise with provably the same rows: the second stage of BIRD's two-stage optimization.

`rules.RULES` has one row for each rule. `rewriter.rewrite` applies them to a text, `proof.proven` runs both
texts and compares the rows.
"""

from harness.efficiency.rewriting.proof import Proof, held_keys, proven
from harness.efficiency.rewriting.rewriter import consider, consider_all, rewrite
from harness.efficiency.rewriting.rule import Considered, Rewritten, Rule
from harness.efficiency.rewriting.rules import RULES
from harness.efficiency.rewriting.statement import Fact

__all__ = [
    "RULES",
    "Considered",
    "Fact",
    "Proof",
    "Rewritten",
    "Rule",
    "consider",
    "consider_all",
    "held_keys",
    "proven",
    "rewrite",
]
