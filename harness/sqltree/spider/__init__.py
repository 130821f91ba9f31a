"""Spider's measures of a SQLite prediction: hardness, Exact Matching and partial matching, without values."""

from harness.sqltree.spider.comparison import compare, hardness, read, structure
from harness.sqltree.spider.query import Query, Schema
from harness.sqltree.spider.structure import Hardness, Match, Part, Structure, Total, totals

__all__ = [
    "Hardness",
    "Match",
    "Part",
    "Query",
    "Schema",
    "Structure",
    "Total",
    "compare",
    "hardness",
    "read",
    "structure",
    "totals",
]
