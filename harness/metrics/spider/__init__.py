"""Spider's measures of a SQLite prediction: hardness, Exact Matching and partial matching, without values."""

from harness.metrics.spider.comparison import compare, structure
from harness.metrics.spider.hardness import hardness
from harness.metrics.spider.names import Schema
from harness.metrics.spider.query import Query
from harness.metrics.spider.reading import read
from harness.metrics.spider.structure import Hardness, Match, Part, Structure
from harness.metrics.spider.totals import Total, totals

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
