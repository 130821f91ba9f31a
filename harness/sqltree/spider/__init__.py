"""Spider's measures of a SQLite prediction: hardness, Exact Matching and partial matching, without values."""

from harness.sqltree.spider.comparison import compare, hardness, read, structure
from harness.sqltree.spider.query import SpiderQuery, SpiderSchema
from harness.sqltree.spider.structure import Hardness, Match, SpiderPart, Structure, Total, totals

__all__ = [
    "Hardness",
    "Match",
    "SpiderPart",
    "SpiderQuery",
    "SpiderSchema",
    "Structure",
    "Total",
    "compare",
    "hardness",
    "read",
    "structure",
    "totals",
]
