"""Rules by which two queries return the same set of rows on every database that keeps the club's keys.

Each is a template, its rewriting, and why they are equal. `TLP` is ternary logic partitioning (Rigger and Su,
OOPSLA 2020), `NoREC` their non-optimizing reference engine (ESEC/FSE 2020); the others have their proof here.
"""

# ruff: noqa: E501 - a rule is a line

from dataclasses import dataclass
from itertools import pairwise

from tests.labs.chance.cases import CELLS, CONDITIONS, KEYED, NULLABLE, NUMBERS, REFERENCES, Fill

_ONCE: list[Fill] = [{}]
_STRICT = [fill for fill in REFERENCES if fill["f"] == "player_id"]
_LOOSE = [fill for fill in REFERENCES if fill["f"] == "team_id"]
_PAIRS = [{**fill, **{f"{key}2": value for key, value in other.items()}} for fill, other in pairwise(CELLS)]
_KEYED_CONDITIONS = [fill for fill in CONDITIONS if fill["k"]]


@dataclass(frozen=True)
class Rule:
    """`one` and `other` are equal for each of `fills`, because of `why`; `is_portable`: on every engine."""

    name: str
    why: str
    one: str
    other: str
    fills: list[Fill]
    is_portable: bool = True

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The texts, for each of `fills`."""
        return [(self.one.format_map(fill), self.other.format_map(fill)) for fill in self.fills]


RULES = [
    Rule("alias", "an alias is a name", "SELECT {c} FROM {t}", "SELECT x.{c} FROM {t} AS x", CELLS),
    Rule("set", "EX compares sets", "SELECT {c} FROM {t}", "SELECT DISTINCT {c} FROM {t}", CELLS),
    Rule("order", "a set has no order", "SELECT {c} FROM {t}", "SELECT {c} FROM {t} ORDER BY {c}", CELLS),
    Rule("CTE", "a CTE is its query", "SELECT {c} FROM {t}", "WITH x AS (SELECT * FROM {t}) SELECT {c} FROM x", CELLS),
    Rule("group", "each group has one key", "SELECT {c} FROM {t} GROUP BY {c}", "SELECT DISTINCT {c} FROM {t}", CELLS),
    Rule("greatest", "repeats change no maximum", "SELECT MAX({c}) FROM {t}", "SELECT MAX(DISTINCT {c}) FROM {t}", CELLS),
    Rule("counted", "COUNT skips NULL alone", "SELECT COUNT({c}) FROM {t}", "SELECT COUNT(*) FROM {t} WHERE {c} IS NOT NULL", CELLS),
    Rule("counted by cases", "the sum of ones is their number, and 0 without rows", "SELECT COUNT({c}) FROM {t}", "SELECT COALESCE(SUM(CASE WHEN {c} IS NULL THEN 0 ELSE 1 END), 0) FROM {t}", CELLS),
    Rule("idempotence", "A union A is A", "SELECT {c} FROM {t}", "SELECT {c} FROM {t} UNION SELECT {c} FROM {t}", CELLS),
    Rule("COALESCE", "its definition", "SELECT COALESCE({c}, {v}) FROM {t}", "SELECT CASE WHEN {c} IS NOT NULL THEN {c} ELSE {v} END FROM {t}", CELLS),
    Rule("NULLIF", "its definition", "SELECT NULLIF({c}, {v}) FROM {t}", "SELECT CASE WHEN {c} = {v} THEN NULL ELSE {c} END FROM {t}", CELLS),
    Rule("different", "COUNT DISTINCT counts the set without NULL", "SELECT COUNT(DISTINCT {c}) FROM {t}", "SELECT COUNT(*) FROM (SELECT {c} FROM {t} WHERE {c} IS NOT NULL GROUP BY {c}) AS x", CELLS),
    Rule("whole group", "no window is larger than the table", "SELECT {c}, COUNT(*) OVER () FROM {t}", "SELECT {c}, (SELECT COUNT(*) FROM {t}) FROM {t}", CELLS),
    Rule("IN", "IN is the OR of its values", "SELECT {c} FROM {t} WHERE {c} IN ({v}, {w})", "SELECT {c} FROM {t} WHERE {c} = {v} OR {c} = {w}", CELLS),
    Rule("NOT IN", "NOT IN is the AND of the negations", "SELECT {c} FROM {t} WHERE {c} NOT IN ({v}, {w})", "SELECT {c} FROM {t} WHERE {c} <> {v} AND {c} <> {w}", CELLS),
    Rule("BETWEEN", "its definition", "SELECT {c} FROM {t} WHERE {c} BETWEEN {v} AND {w}", "SELECT {c} FROM {t} WHERE {c} >= {v} AND {c} <= {w}", CELLS),
    Rule("NOT BETWEEN", "its definition, by De Morgan", "SELECT {c} FROM {t} WHERE {c} NOT BETWEEN {v} AND {w}", "SELECT {c} FROM {t} WHERE {c} < {v} OR {w} < {c}", CELLS),
    Rule("total order", "what is not less is greater or equal, and NULL neither", "SELECT {c} FROM {t} WHERE NOT {c} < {v}", "SELECT {c} FROM {t} WHERE {c} >= {v}", CELLS),
    Rule("another value", "in a total order it is less or greater", "SELECT {c} FROM {t} WHERE {c} <> {v}", "SELECT {c} FROM {t} WHERE {c} < {v} OR {c} > {v}", CELLS),
    Rule("converse", "a = b is b = a", "SELECT {c} FROM {t} WHERE {c} = {v}", "SELECT {c} FROM {t} WHERE {v} = {c}", CELLS),
    Rule("known", "a comparison with NULL does not hold", "SELECT {c} FROM {t} WHERE {c} = {v} OR {c} <> {v}", "SELECT {c} FROM {t} WHERE {c} IS NOT NULL", CELLS),
    Rule("implied NOT NULL", "as above", "SELECT {c} FROM {t} WHERE {c} > {v}", "SELECT {c} FROM {t} WHERE {c} > {v} AND {c} IS NOT NULL", CELLS),
    Rule("implied bound", "v is less than w", "SELECT {c} FROM {t} WHERE {c} > {w}", "SELECT {c} FROM {t} WHERE {c} > {w} AND {c} > {v}", CELLS),
    Rule("constant column", "an equal value can stand for the column", "SELECT {c} FROM {t} WHERE {c} = {v}", "SELECT {v} FROM {t} WHERE {c} = {v}", CELLS),
    Rule("least", "nothing is less than the least", "SELECT {c} FROM {t} WHERE {c} = (SELECT MIN({c}) FROM {t})", "SELECT {c} FROM {t} x WHERE {c} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM {t} y WHERE y.{c} < x.{c})", CELLS),
    Rule("first of an order", "the first is the least, and NULL without one", "SELECT MIN({c}) FROM {t}", "SELECT (SELECT {c} FROM {t} WHERE {c} IS NOT NULL ORDER BY {c} LIMIT 1)", CELLS),
    Rule("greatest of parts", "the greatest is the greatest of all groups", "SELECT MAX({c}) FROM {t}", "SELECT MAX(m) FROM (SELECT {c}, MAX({c}) AS m FROM {t} GROUP BY {c}) AS x", CELLS),
    Rule("union of two", "union commutes", "SELECT {c} FROM {t} UNION SELECT {c2} FROM {t2}", "SELECT {c2} FROM {t2} UNION SELECT {c} FROM {t}", [fill for fill in _PAIRS if fill["v"][0] == fill["v2"][0]]),
    Rule("union of bags", "as sets they are one", "SELECT {c} FROM {t} UNION SELECT {c} FROM {t}", "SELECT {c} FROM {t} UNION ALL SELECT {c} FROM {t}", CELLS),
    Rule("HAVING", "the condition is on the key of the group", "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c} HAVING {c} > {v}", "SELECT {c}, COUNT(*) FROM {t} WHERE {c} > {v} GROUP BY {c}", CELLS),
    Rule("NULL keys", "NULL = NULL does not hold", "SELECT x.{c} FROM {t} x JOIN {t} y ON x.{c} = y.{c}", "SELECT {c} FROM {t} WHERE {c} IS NOT NULL", CELLS),
    Rule("nothing taken away", "A without the empty set is A", "SELECT {c} FROM {t}", "SELECT {c} FROM {t} EXCEPT SELECT {c} FROM {t} WHERE 1 = 0", CELLS),
    Rule("not known", "TRUE of neither the condition nor its negation", "SELECT {c} FROM {t} WHERE {c} IS NULL", "SELECT {c} FROM {t} EXCEPT SELECT {c} FROM {t} WHERE {c} = {v} OR {c} <> {v}", NULLABLE),
    Rule("mean", "its definition, NULL without values", "SELECT AVG({c}) FROM {t}", "SELECT SUM({c}) * 1.0 / COUNT({c}) FROM {t} HAVING COUNT({c}) > 0 UNION SELECT NULL FROM (SELECT 1 AS one) AS x WHERE NOT EXISTS (SELECT 1 FROM {t} WHERE {c} IS NOT NULL)", NUMBERS, is_portable=False),
    Rule("linear sum", "a sum of sums", "SELECT SUM({c} + 1) FROM {t}", "SELECT SUM({c}) + COUNT({c}) FROM {t}", NUMBERS),
    Rule("doubled", "a sum of multiples", "SELECT SUM(2 * {c}) FROM {t}", "SELECT 2 * SUM({c}) FROM {t}", NUMBERS),
    Rule("negated", "the greatest is the least of the negatives", "SELECT MAX({c}) FROM {t}", "SELECT -MIN(-{c}) FROM {t}", NUMBERS),
    Rule("parts", "the sum is that of its groups", "SELECT SUM({c}) FROM {t}", "SELECT SUM(s) FROM (SELECT SUM({c}) AS s FROM {t} GROUP BY {c}) AS x", NUMBERS),
    Rule("first by key", "the key decides ties", "SELECT {c} FROM {t} ORDER BY {k} LIMIT 1", "SELECT {c} FROM {t} WHERE {k} = (SELECT MIN({k}) FROM {t})", KEYED),
    Rule("first two by key", "the rank is by a key", "SELECT {c} FROM {t} ORDER BY {k} LIMIT 2", "SELECT {c} FROM (SELECT {c}, ROW_NUMBER() OVER (ORDER BY {k}) AS n FROM {t}) AS x WHERE n <= 2", KEYED),
    Rule("order by two", "a later key does not matter behind one", "SELECT {c} FROM {t} ORDER BY {k}, {c} LIMIT 2", "SELECT {c} FROM {t} ORDER BY {k} LIMIT 2", KEYED),
    Rule("a tie", "either answers the question", "SELECT {c} FROM {t} ORDER BY {c} LIMIT 1", "SELECT {c} FROM {t} ORDER BY {c}, {k} DESC LIMIT 1", KEYED),
    Rule("counted key", "a key is not NULL", "SELECT COUNT(*) FROM {t} WHERE {c} = {v}", "SELECT COUNT({k}) FROM {t} WHERE {c} = {v}", KEYED),
    Rule("different keys", "a key does not repeat", "SELECT COUNT(*) FROM {t} WHERE {c} = {v}", "SELECT COUNT(DISTINCT {k}) FROM {t} WHERE {c} = {v}", KEYED),
    Rule("itself", "a row meets itself alone by its key", "SELECT x.{c} FROM {t} x JOIN {t} y ON x.{k} = y.{k} WHERE y.{c} = {v}", "SELECT {c} FROM {t} WHERE {c} = {v}", KEYED),
    Rule("group by key", "a group has one row", "SELECT {k}, MAX({c}) FROM {t} GROUP BY {k}", "SELECT {k}, {c} FROM {t}", KEYED),
    Rule("twice", "two rows of a group differ in the key", "SELECT {c} FROM {t} WHERE {c} IS NOT NULL GROUP BY {c} HAVING COUNT(*) > 1", "SELECT x.{c} FROM {t} x WHERE EXISTS (SELECT 1 FROM {t} y WHERE y.{c} = x.{c} AND y.{k} <> x.{k})", KEYED),
    Rule("De Morgan, AND", "in three values, too", "SELECT {c} FROM {t} WHERE NOT ({p} AND {q})", "SELECT {c} FROM {t} WHERE NOT ({p}) OR NOT ({q})", CONDITIONS),
    Rule("De Morgan, OR", "in three values, too", "SELECT {c} FROM {t} WHERE NOT ({p} OR {q})", "SELECT {c} FROM {t} WHERE NOT ({p}) AND NOT ({q})", CONDITIONS),
    Rule("double negation", "in three values, too", "SELECT {c} FROM {t} WHERE {p}", "SELECT {c} FROM {t} WHERE NOT (NOT ({p}))", CONDITIONS),
    Rule("commutation", "AND is symmetric", "SELECT {c} FROM {t} WHERE {p} AND {q}", "SELECT {c} FROM {t} WHERE {q} AND {p}", CONDITIONS),
    Rule("absorption", "the least of p and the greater of p and q is p", "SELECT {c} FROM {t} WHERE {p}", "SELECT {c} FROM {t} WHERE {p} AND ({p} OR {q})", CONDITIONS),
    Rule("disjuncts", "a row is in one of them or both", "SELECT {c} FROM {t} WHERE {p} OR {q}", "SELECT {c} FROM {t} WHERE {p} UNION ALL SELECT {c} FROM {t} WHERE {q}", CONDITIONS),
    Rule("stacked", "the second filter sees the rows of the first", "SELECT {c} FROM {t} WHERE {p} AND {q}", "SELECT {c} FROM (SELECT * FROM {t} WHERE {p}) AS x WHERE {q}", CONDITIONS),
    Rule("stacked CTE", "as above", "SELECT {c} FROM {t} WHERE {p} AND {q}", "WITH x AS (SELECT * FROM {t} WHERE {q}) SELECT {c} FROM x WHERE {p}", CONDITIONS),
    Rule("CASE", "ELSE takes FALSE and NULL", "SELECT {c} FROM {t} WHERE {p}", "SELECT {c} FROM {t} WHERE CASE WHEN {p} THEN 1 ELSE 0 END = 1", CONDITIONS),
    Rule("TLP", "a condition is true, false or NULL", "SELECT {c} FROM {t}", "SELECT {c} FROM {t} WHERE {p} UNION ALL SELECT {c} FROM {t} WHERE NOT ({p}) UNION ALL SELECT {c} FROM {t} WHERE ({p}) IS NULL", CONDITIONS),
    Rule("TLP of a count", "its parts are disjoint", "SELECT COUNT(*) FROM {t}", "SELECT (SELECT COUNT(*) FROM {t} WHERE {p}) + (SELECT COUNT(*) FROM {t} WHERE NOT ({p})) + (SELECT COUNT(*) FROM {t} WHERE ({p}) IS NULL)", CONDITIONS),
    Rule("NoREC", "the filter counts as its value does", "SELECT COUNT(*) FROM {t} WHERE {p}", "SELECT COUNT(CASE WHEN {p} THEN 1 END) FROM {t}", CONDITIONS),
    Rule("conditional maximum", "an aggregate skips NULL", "SELECT MAX({c}) FROM {t} WHERE {p}", "SELECT MAX(CASE WHEN {p} THEN {c} END) FROM {t}", CONDITIONS),
    Rule("intersection", "a key names one row", "SELECT {k} FROM {t} WHERE {p} AND {q}", "SELECT {k} FROM {t} WHERE {p} INTERSECT SELECT {k} FROM {t} WHERE {q}", _KEYED_CONDITIONS),
    Rule("difference", "a key names one row, and NULL is not true", "SELECT {k} FROM {t} WHERE {p} AND ({q}) IS NOT TRUE", "SELECT {k} FROM {t} WHERE {p} EXCEPT SELECT {k} FROM {t} WHERE {q}", _KEYED_CONDITIONS),
    Rule("IN its keys", "a key names one row", "SELECT {c} FROM {t} WHERE {p}", "SELECT {c} FROM {t} WHERE {k} IN (SELECT {k} FROM {t} WHERE {p})", _KEYED_CONDITIONS),
    Rule("join with its keys", "a key names one row", "SELECT {c} FROM {t} WHERE {p}", "SELECT {t}.{c} FROM {t} JOIN (SELECT {k} AS key_of FROM {t} WHERE {p}) AS x ON x.key_of = {t}.{k}", _KEYED_CONDITIONS),
    Rule("comma", "an inner join is a filtered product", "SELECT x.{c}, y.{d} FROM {t} x JOIN {u} y ON x.{f} = y.id", "SELECT x.{c}, y.{d} FROM {t} x, {u} y WHERE x.{f} = y.id", REFERENCES),
    Rule("other side", "inner joins commute", "SELECT x.{c}, y.{d} FROM {t} x JOIN {u} y ON x.{f} = y.id", "SELECT x.{c}, y.{d} FROM {u} y JOIN {t} x ON y.id = x.{f}", REFERENCES),
    Rule("RIGHT is LEFT", "its definition", "SELECT x.{c}, y.{d} FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id", "SELECT x.{c}, y.{d} FROM {u} y RIGHT JOIN {t} x ON x.{f} = y.id", REFERENCES),
    Rule("joined parent", "the reference has one parent unless it is NULL", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id", "SELECT {c} FROM {t} WHERE {f} IS NOT NULL", REFERENCES),
    Rule("outer parent", "at most one parent", "SELECT x.{c} FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id", "SELECT {c} FROM {t}", REFERENCES),
    Rule("counted parents", "at most one parent", "SELECT COUNT(*) FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id", "SELECT COUNT(*) FROM {t}", REFERENCES),
    Rule("strict outer join", "the condition is not true of NULL", "SELECT x.{c} FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id WHERE y.{d} = {v}", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.{d} = {v}", REFERENCES),
    Rule("pushed condition", "a filter of an inner join commutes with it", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.{d} = {v}", "SELECT x.{c} FROM {t} x JOIN (SELECT * FROM {u} WHERE {d} = {v}) y ON x.{f} = y.id", REFERENCES),
    Rule("condition in ON", "as above", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.{d} = {v}", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id AND y.{d} = {v}", REFERENCES),
    Rule("looked up", "the key is unique", "SELECT x.{c}, y.{d} FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id", "SELECT x.{c}, (SELECT y.{d} FROM {u} y WHERE y.id = x.{f}) FROM {t} x", REFERENCES),
    Rule("semi-join, IN", "EX compares sets", "SELECT y.{d} FROM {u} y JOIN {t} x ON x.{f} = y.id", "SELECT {d} FROM {u} WHERE id IN (SELECT {f} FROM {t})", REFERENCES),
    Rule("semi-join, EXISTS", "its definition", "SELECT {d} FROM {u} WHERE id IN (SELECT {f} FROM {t})", "SELECT {d} FROM {u} y WHERE EXISTS (SELECT 1 FROM {t} x WHERE x.{f} = y.id)", REFERENCES),
    Rule("anti-join, EXISTS", "an unmatched row has NULL", "SELECT y.{d} FROM {u} y LEFT JOIN {t} x ON x.{f} = y.id WHERE x.{f} IS NULL", "SELECT {d} FROM {u} y WHERE NOT EXISTS (SELECT 1 FROM {t} x WHERE x.{f} = y.id)", REFERENCES),
    Rule("anti-join, NOT IN", "without NULL it is NOT EXISTS", "SELECT {d} FROM {u} WHERE id NOT IN (SELECT {f} FROM {t} WHERE {f} IS NOT NULL)", "SELECT {d} FROM {u} y WHERE NOT EXISTS (SELECT 1 FROM {t} x WHERE x.{f} = y.id)", REFERENCES),
    Rule("NOT IN NOT NULL", "the column is NOT NULL", "SELECT {d} FROM {u} WHERE id NOT IN (SELECT {f} FROM {t})", "SELECT y.{d} FROM {u} y LEFT JOIN {t} x ON x.{f} = y.id WHERE x.{f} IS NULL", _STRICT),
    Rule("mandatory parent", "the column is NOT NULL", "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c}", "SELECT x.{c}, COUNT(*) FROM {t} x JOIN {u} y ON x.{f} = y.id GROUP BY x.{c}", _STRICT),
    Rule("orphans", "only NULL has no parent", "SELECT x.{c} FROM {t} x LEFT JOIN {u} y ON x.{f} = y.id WHERE y.id IS NULL", "SELECT {c} FROM {t} WHERE {f} IS NULL", _LOOSE),
    Rule("counted children", "COUNT of an unmatched row is 0", "SELECT y.id, COUNT(x.{f}) FROM {u} y LEFT JOIN {t} x ON x.{f} = y.id GROUP BY y.id", "SELECT y.id, (SELECT COUNT(*) FROM {t} x WHERE x.{f} = y.id) FROM {u} y", REFERENCES),
    Rule("counted before", "the group is the parent's key", "SELECT x.{f}, COUNT(*) FROM {t} x JOIN {u} y ON x.{f} = y.id GROUP BY x.{f}", "SELECT y.id, n FROM {u} y JOIN (SELECT {f}, COUNT(*) AS n FROM {t} GROUP BY {f}) x ON x.{f} = y.id", REFERENCES),
    Rule("transitive key", "equal columns have equal values", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.id = 1", "SELECT {c} FROM {t} WHERE {f} = 1", REFERENCES),
    Rule("scalar parent", "the name is unique", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.name = 'Reds'", "SELECT {c} FROM {t} WHERE {f} = (SELECT id FROM {u} WHERE name = 'Reds')", _LOOSE),
    Rule("chain", "joins associate", "SELECT p.name FROM team t JOIN player p ON p.team_id = t.id JOIN goal g ON g.player_id = p.id WHERE t.city = 'Graz'", "SELECT name FROM player WHERE id IN (SELECT player_id FROM goal) AND team_id IN (SELECT id FROM team WHERE city = 'Graz')", _ONCE),
    Rule("chain of INs", "each is a semi-join", "SELECT DISTINCT t.name FROM team t JOIN player p ON p.team_id = t.id JOIN goal g ON g.player_id = p.id WHERE g.minute > 45", "SELECT name FROM team WHERE id IN (SELECT team_id FROM player WHERE id IN (SELECT player_id FROM goal WHERE minute > 45))", _ONCE),
    Rule("chain, shorter", "the middle table adds nothing that the reference lacks", "SELECT COUNT(*) FROM goal g JOIN player p ON p.id = g.player_id", "SELECT COUNT(*) FROM goal", _ONCE),
    Rule("whole numbers, above", "no whole number is between them", "SELECT name FROM team WHERE founded >= 1950", "SELECT name FROM team WHERE founded > 1949", _ONCE),
    Rule("whole numbers, below", "no whole number is between them", "SELECT player_id FROM goal WHERE minute < 30", "SELECT player_id FROM goal WHERE minute <= 29", _ONCE),
    Rule("unique name", "it is declared", "SELECT COUNT(*) FROM team", "SELECT COUNT(DISTINCT name) FROM team", _ONCE),
    Rule("intersection with NULL", "the parents of all references", "SELECT id FROM team INTERSECT SELECT team_id FROM player", "SELECT DISTINCT team_id FROM player WHERE team_id IS NOT NULL", _ONCE),
    Rule("difference of keys", "a key is not NULL", "SELECT id FROM player EXCEPT SELECT player_id FROM goal", "SELECT id FROM player WHERE id NOT IN (SELECT player_id FROM goal)", _ONCE),
    Rule("any first row", "without an order each is right", "SELECT name FROM team LIMIT 1", "SELECT name FROM team ORDER BY id DESC LIMIT 1", _ONCE),
    Rule("two in a key", "a pair of columns is the key", "SELECT COUNT(*) FROM goal", "SELECT COUNT(*) FROM (SELECT DISTINCT player_id, minute FROM goal) AS x", _ONCE),
    Rule("prefix", "digits have no case", "SELECT name FROM player WHERE SUBSTR(born, 1, 4) = '2000'", "SELECT name FROM player WHERE born LIKE '2000%'", _ONCE),
    Rule("greatest of groups", "the group of a key of another table", "SELECT p.team_id, MAX(g.minute) FROM player p JOIN goal g ON g.player_id = p.id GROUP BY p.team_id", "SELECT team_id, MAX(m) FROM player JOIN (SELECT player_id, MAX(minute) AS m FROM goal GROUP BY player_id) x ON x.player_id = player.id GROUP BY team_id", _ONCE),
    Rule("IFNULL", "COALESCE of two", "SELECT COALESCE({c}, {v}) FROM {t}", "SELECT IFNULL({c}, {v}) FROM {t}", NULLABLE, is_portable=False),
    Rule("IIF", "CASE of one condition", "SELECT SUM(CASE WHEN {p} THEN 1 ELSE 0 END) FROM {t}", "SELECT SUM(IIF({p}, 1, 0)) FROM {t}", CONDITIONS, is_portable=False),
    Rule("summed truth", "TRUE is 1, and NULL is skipped", "SELECT COUNT(*) FROM {t} WHERE {p}", "SELECT COALESCE(SUM({p}), 0) FROM {t}", CONDITIONS, is_portable=False),
    Rule("NULL by IS", "IS also holds of two NULLs", "SELECT {c} FROM {t} WHERE {c} IS {v}", "SELECT {c} FROM {t} WHERE {c} = {v}", CELLS, is_portable=False),
    Rule("total", "SUM as 0 without values", "SELECT TOTAL({c}) FROM {t}", "SELECT COALESCE(SUM({c}), 0) FROM {t}", NUMBERS, is_portable=False),
    Rule("least of two", "its definition", "SELECT MIN({c}, {v}) FROM {t}", "SELECT CASE WHEN {c} <= {v} THEN {c} WHEN {c} > {v} THEN {v} END FROM {t}", NUMBERS, is_portable=False),
    Rule("groups with NULL", "GROUP BY takes NULLs as one", "SELECT team_id FROM player GROUP BY team_id HAVING COUNT(*) > 1", "SELECT DISTINCT a.team_id FROM player a JOIN player b ON a.team_id IS b.team_id AND a.id <> b.id", _ONCE, is_portable=False),
    Rule("rowid", "it is the integer key", "SELECT id FROM team", "SELECT rowid FROM team", _ONCE, is_portable=False),
]  # fmt: skip

EQUAL = [pair for rule in RULES for pair in rule.pairs]
