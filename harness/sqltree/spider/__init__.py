"""Spider's measures of a SQLite prediction: hardness, Exact Matching and partial matching, without values."""

from harness.sqltree.spider.comparison import compare, structure
from harness.sqltree.spider.hardness import hardness
from harness.sqltree.spider.names import Schema
from harness.sqltree.spider.query import Query
from harness.sqltree.spider.reading import read
from harness.sqltree.spider.structure import Hardness, Match, Part, Structure
from harness.sqltree.spider.totals import Total, totals

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
