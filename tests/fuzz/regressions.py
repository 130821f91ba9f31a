"""Queries that once answered differently, each as small as it could be made."""

from dataclasses import dataclass

from dialects.enums import Dialect
from tests.every_engine import LOADED


@dataclass(frozen=True)
class Regression:
    """One difference that was found."""

    name: str
    sql: str
    db_id: str = "odd"
    ordered: bool = False
    """Whether ORDER BY leaves the rows one order."""
    untranslatable: tuple[Dialect, ...] = ()
    """The targets that cannot say it exactly; the translator has to say so."""


REGRESSIONS = (
    Regression(
        "unary plus",
        "SELECT (+1) FROM person",
    ),
    Regression(
        "no affinity against the affinity of text",
        "SELECT 1 FROM dirty WHERE num > loose",
    ),
    Regression(
        "no affinity against the affinity of text in a join",
        "SELECT 1 FROM dirty JOIN item ON loose = label",
    ),
    Regression(
        "a sign that binds tighter than a product",
        "SELECT (~1 * ~5 & 1) FROM kind",
    ),
    Regression(
        "integers and fractions in one CASE",
        "SELECT DENSE_RANK() OVER (ORDER BY CASE 'a' WHEN 7 THEN 0.5 ELSE n END DESC) FROM extreme",
    ),
    Regression(
        "rounded NULL",
        "SELECT ROUND(price, 2) FROM item",
    ),
    Regression(
        "a sum of nothing but NULL, rounded",
        "SELECT ROUND(SUM(CASE WHEN 'a' THEN 1 ELSE NULL END) * 1.0 / COUNT(*), 2) FROM item "
        'GROUP BY "Is OK"',
    ),
    Regression(
        "columns of a common table expression renamed",
        "WITH c(n, m) AS (SELECT id AS a, 1 AS b FROM person ORDER BY 1, 2) SELECT * FROM c",
    ),
    Regression(
        "an alias of a constant in the order of a subquery",
        "SELECT 0 FROM (SELECT 4 AS c FROM dirty RIGHT JOIN void AS t ON dirty.loose = t.id ORDER "
        "BY c, amount DESC, 1) AS d",
    ),
    Regression(
        "a bare column in HAVING",
        "WITH c AS (SELECT 1 AS n, code AS k FROM kind AS t GROUP BY k HAVING t.weight) SELECT k "
        "FROM c GROUP BY k",
    ),
    Regression(
        "a text alone in LAG",
        "SELECT LAG('a', 0) OVER (ORDER BY id) AS c1 FROM extreme",
    ),
    Regression(
        "a text to group by",
        "SELECT (1 || '') FROM kind GROUP BY (1 || '')",
    ),
    Regression(
        "a negative constant to group by",
        "SELECT 1 FROM item GROUP BY (- 'abc')",
    ),
    Regression(
        "a function of a constant to group by",
        "SELECT 2 FROM dirty GROUP BY LIKELY(100)",
    ),
    Regression(
        "constants to group by and order by",
        "SELECT 1 AS n FROM kind GROUP BY (1 || '') ORDER BY 1 LIMIT 2",
    ),
    Regression(
        "a constant in the order of a window",
        "SELECT NTILE(4) OVER (ORDER BY 1 DESC, id) AS c1 FROM extreme",
    ),
    Regression(
        "a constant to partition by",
        "SELECT MIN(1) OVER (PARTITION BY 1) FROM dirty",
    ),
    Regression(
        "division by zero in the order",
        'SELECT 1 AS c2 FROM kind ORDER BY (CAST(1 AS REAL) / "order") || 1',
    ),
    Regression(
        "remainder of a fraction below one",
        "SELECT DISTINCT (1 % (1 % value)) FROM event",
    ),
    Regression(
        "a remainder by zero as an argument",
        'SELECT SUBSTRING(1, 2, (2 - 1 % ~"order")) FROM kind',
    ),
    Regression(
        "a product beyond 64 bits",
        "SELECT (1 | n) * (SELECT score FROM person WHERE id = 1) FROM extreme",
    ),
    Regression(
        "a sum beyond 64 bits or a remainder as text",
        "SELECT LOWER(IFNULL(1 % nick, -9223372036854775808 + score)) FROM person",
    ),
    Regression(
        "a text beyond 2^53 and an integer",
        "SELECT IIF(1, ticket, 'a') + ticket FROM event",
    ),
    Regression(
        "a day that a month has not, after 'auto'",
        "SELECT STRFTIME('%Y-%m-%d', IIF(1, '2020-02-30', 'a'), 'auto', '+10 days') FROM event",
    ),
    Regression(
        "a product beyond 64 bits as text",
        "SELECT LOWER(COALESCE(mixed, 1) * n) FROM extreme",
    ),
    Regression(
        "a recursion beyond 64 bits",
        "WITH RECURSIVE r(n, f) AS (SELECT 1, 1 UNION ALL SELECT n + 1, f * (n + 1) FROM r WHERE "
        "n < 27) SELECT f FROM r",
    ),
    Regression(
        "the least of NULL",
        "SELECT (SELECT MIN(NULL) FROM item)",
    ),
    Regression(
        "only constants that are different",
        "SELECT DISTINCT FALSE FROM (SELECT 1 FROM item) AS d ORDER BY 1",
    ),
    Regression(
        "a window in the order of what is different",
        "SELECT DISTINCT 1, id FROM item ORDER BY TOTAL(1) OVER (ORDER BY 1) DESC, 1, 2",
        untranslatable=(Dialect.POSTGRESQL, Dialect.DUCKDB),
    ),
    Regression(
        "a negative number by a rank",
        "SELECT DISTINCT (loose / RANK() OVER (ORDER BY -4 DESC)) FROM dirty",
    ),
    Regression(
        "NULL of a subquery and a number",
        "SELECT IIF(1, (SELECT NULL FROM event ORDER BY 1 LIMIT 1), loose) FROM dirty",
    ),
    Regression(
        "a window inside NOT IN",
        "SELECT DISTINCT 1 FROM kind WHERE 'a' NOT IN (SELECT LAG('a', 2) OVER (ORDER BY id) FROM extreme)",
    ),
    Regression(
        "a window over a column of the query around",
        "SELECT (SELECT MIN(1) OVER (PARTITION BY p.born ORDER BY 1) FROM kind LIMIT 1) FROM "
        "person AS p GROUP BY name, born",
    ),
    Regression(
        "a constant to group by in a subquery of a recursion",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT 1 "
        "FROM (SELECT 1 AS c FROM (SELECT 1 AS d FROM r) GROUP BY (4 || '') ORDER BY 1 LIMIT 5)",
    ),
    Regression("a folded aggregate", "SELECT COALESCE(1, SUM(1)) FROM item"),
    Regression("a count that is folded away", "SELECT (COUNT(*) % 'a') FROM item"),
    Regression(
        "different values of several types",
        "SELECT COUNT(DISTINCT CASE WHEN 1 THEN boss ELSE 'a' END) FROM person",
    ),
    Regression(
        "integers without fractions",
        "SELECT n FROM extreme EXCEPT SELECT 3.5 FROM item",
    ),
    Regression(
        "the affinity of a recursion's column",
        "WITH RECURSIVE r(id) AS (SELECT id FROM person WHERE id = 9 UNION ALL SELECT person.id "
        "FROM person, r WHERE boss = r.id) SELECT 1 FROM r WHERE id > '1.5'",
    ),
    Regression("IN among comparisons", "SELECT 1 FROM kind WHERE (1 + 1 > 1 <> 0 NOT IN (0) <= 1)"),
    Regression(
        "a compound whose parts have different affinities",
        "SELECT 4 FROM (SELECT 'a' AS c FROM dirty UNION ALL SELECT code FROM kind) AS d WHERE c >="
        " 2147483648",
        untranslatable=LOADED,
    ),
    Regression(
        "the greater of a window and a number",
        "SELECT MAX(SUM(1) OVER (ORDER BY code), 1) FROM kind WHERE code IS 'b'",
    ),
    Regression(
        "a constant text as the key of a common table expression",
        "WITH c AS (SELECT 1 AS n, '-' AS k FROM kind GROUP BY k ORDER BY 1, 2 LIMIT 3) SELECT 1 FROM c",
    ),
    Regression(
        "an alias that is another column's name", "SELECT 1 AS code, event.code FROM event ORDER BY 1, 2"
    ),
    Regression(
        "an aggregate looked up in a subquery",
        "SELECT 1 FROM extreme GROUP BY id HAVING (MAX('a') IN (SELECT DISTINCT 1 FROM dirty))",
        untranslatable=LOADED,
    ),
    Regression(
        "a number of any kind that is grouped",
        "SELECT mixed FROM extreme GROUP BY mixed HAVING mixed NOT IN (0)",
    ),
    Regression(
        "a shared column to group by",
        "SELECT 1, 1, 1, id FROM void AS t1 NATURAL FULL JOIN dirty GROUP BY 4 HAVING id <= 1",
    ),
    Regression(
        "an aggregate of a key in HAVING",
        'SELECT "order" FROM kind GROUP BY "order", code HAVING GROUP_CONCAT("order") NOT LIKE \'_nna\'',
    ),
    Regression("NULL beside a real", "SELECT CAST(height AS REAL) <= n FROM person CROSS JOIN extreme"),
    Regression(
        "a full join over columns of one side",
        "SELECT 1 FROM item FULL JOIN person ON name = person.nick",
    ),
    Regression("NULL in LAG with a default", "SELECT LAG(NULL, 2, 2) OVER (ORDER BY id) FROM dirty"),
    Regression(
        "NULL in a window beside a number",
        "SELECT mixed - IIF(0, FIRST_VALUE(NULL) OVER (ORDER BY id), JULIANDAY('2020-01-01')) FROM extreme",
    ),
    Regression(
        "the collation of a subquery's column",
        "SELECT 1 FROM (SELECT LOWER(nick) AS c FROM person) AS d JOIN person ON c = nick",
    ),
    Regression(
        "a sum that stays real when the fractions are gone",
        "SELECT LOWER(SUM(CASE WHEN height THEN 1.0 ELSE 0 END) OVER (ORDER BY score RANGE BETWEEN 1 "
        "PRECEDING AND CURRENT ROW)) FROM person",
        untranslatable=LOADED,
    ),
    Regression(
        "the absolute value of the least integer, never asked for",
        "SELECT id % ABS(-9223372036854775808) FROM void",
        untranslatable=LOADED,
    ),
    Regression(
        "a table of one column behind IN", "WITH c(n) AS (SELECT id FROM person) SELECT owner IN c FROM item"
    ),
    Regression(
        "an aggregate of a subquery with tables of its own",
        "SELECT MAX((SELECT 'x' FROM kind LEFT JOIN extreme ON id IS weight)) FROM item",
    ),
    Regression(
        "a window over a subquery",
        "SELECT NTILE(4) OVER (ORDER BY (SELECT i.price FROM dirty JOIN kind ON loose = weight LIMIT 1), id) "
        "FROM item AS i",
    ),
    Regression(
        "a condition without a column before a full join",
        "SELECT 1 FROM item JOIN person ON owner = person.id AND 'a' FULL JOIN kind ON item.code = kind.code",
        untranslatable=LOADED,
    ),
    Regression(
        "an integer or a fraction out of a subquery",
        "SELECT (SELECT mixed FROM extreme ORDER BY 1 DESC LIMIT 5) || '', TYPEOF((SELECT mixed FROM "
        "extreme))",
    ),
    Regression(
        "the greater of a window and a text for a single row",
        "SELECT MAX(MAX(day) OVER (ORDER BY id), '1969-07-20') FROM dirty WHERE id = 10",
    ),
    Regression(
        "a collation beside a column of numbers", "SELECT id FROM dirty WHERE grade <= num COLLATE NOCASE"
    ),
    Regression(
        "a fraction and the truth",
        "SELECT weight IS NOT DISTINCT FROM TRUE, weight IS DISTINCT FROM (FALSE) FROM kind",
    ),
    Regression(
        "sums beyond double precision in a compound",
        "SELECT n + 4 FROM extreme EXCEPT SELECT 1 FROM event",
        untranslatable=LOADED,
    ),
    Regression("a hint around a column", "SELECT id FROM item WHERE UNLIKELY(owner) <= made"),
    Regression(
        "the shared column of a full join is no column",
        "SELECT b.id, nick = 'ANN' FROM person AS a FULL JOIN person AS b USING (nick)",
    ),
    Regression(
        "the shared column of a right join is the right one",
        "SELECT nick FROM (SELECT LOWER(nick) COLLATE NOCASE AS nick FROM person) AS a RIGHT JOIN person AS "
        "b USING (nick)",
    ),
    Regression(
        "a shared column of integers and fractions",
        "SELECT mixed || '' FROM extreme JOIN extreme AS e USING (mixed)",
    ),
    Regression(
        "an order by what is beyond 64 bits",
        "SELECT name FROM person ORDER BY (-9223372036854775808 - score) DESC, 1",
        ordered=True,
        untranslatable=LOADED,
    ),
    Regression(
        "a sum beyond 64 bits beside a fraction",
        "SELECT price BETWEEN (-9223372036854775808 - 1) AND 1 FROM item",
    ),
    Regression("a sum beyond 2^53 beside a fraction", "SELECT n + 4 = 9007199254740997.0 FROM extreme"),
    Regression(
        "NULL shifted far to the right",
        "SELECT person << (1 - (SELECT n FROM extreme ORDER BY 1 DESC LIMIT 1)) FROM event",
    ),
    Regression(
        "a product beyond 64 bits in NULLIF", "SELECT NULLIF(4611686018427387904 * 2, price) FROM item"
    ),
    Regression(
        "a frame without the row itself over a single row",
        "SELECT MAX(name) OVER w, COUNT(*) OVER w, TOTAL(score) OVER w, LAST_VALUE(id) OVER w FROM person "
        "WHERE id = 1 WINDOW w AS (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING)",
    ),
    Regression(
        "a frame without the row itself",
        "SELECT MAX(name) OVER w, COUNT(*) OVER w, TOTAL(score) OVER w, FIRST_VALUE(id) OVER w FROM person "
        "WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
    ),
    Regression("shifted by the least integer", "SELECT 1 >> n, 1 << n, n >> 3 FROM extreme"),
    Regression("one more than the last value", "SELECT LAST_VALUE(n) OVER (ORDER BY id) + 1 FROM extreme"),
    Regression(
        "the columns of one table of a join with shared columns",
        "SELECT x.*, i.* FROM person NATURAL RIGHT JOIN item AS i LEFT JOIN person AS x ON 1 = 1",
    ),
    Regression(
        "the columns of the right table of a join with shared columns",
        "SELECT i.* FROM person LEFT JOIN item AS i USING (id)",
    ),
    Regression("the greatest constant", "SELECT id, name, MAX(6) FROM person GROUP BY height, score"),
    Regression(
        "a count of values of several types within each other",
        "SELECT COUNT(COALESCE(CASE WHEN id > 3 THEN 'a' ELSE id END, 0)), COUNT(id + 9223372036854775807) "
        "FROM person",
    ),
    Regression(
        "a common table expression joined to itself, sorted",
        "WITH c AS (SELECT DISTINCT height_cm AS n9 FROM plant_checks) SELECT a.n9 FROM c a JOIN c b "
        "ON a.n9 = b.n9 ORDER BY a.n9 LIMIT 3",
        "botanic_garden",
        ordered=True,
    ),
    Regression(
        "a common table expression joined to itself, grouped",
        "WITH c AS (SELECT height_cm AS n9 FROM plant_checks LIMIT 1000) SELECT a.n9, COUNT(*) FROM c a "
        "JOIN c b ON a.n9 = b.n9 GROUP BY a.n9 LIMIT 10000",
        "botanic_garden",
    ),
    Regression(
        "what is excepted inside of IN",
        "SELECT DISTINCT 1 FROM branches AS x1 WHERE 'a' NOT IN (SELECT Country FROM Authors EXCEPT "
        "SELECT NULL FROM Authors T2)",
        "city_library",
    ),
    Regression(
        "an intersection behind a union with NULL",
        "SELECT code AS c1, `at`, NULL AS c2 FROM EVENT UNION SELECT 'a', 'a', 1 FROM person t3 "
        "INTERSECT SELECT '9', [at], NULL FROM event",
    ),
    Regression(
        "an integer beside a sum beyond 2^53",
        "SELECT id, CASE n WHEN 1 THEN 'a' WHEN (1 + n) THEN 'b' END, n < 1 + n FROM extreme",
    ),
    Regression(
        "values of several types with NULLs at the end",
        "SELECT id FROM item ORDER BY MAX(1, price, COALESCE(owner, 'a')) NULLS LAST, id",
        ordered=True,
    ),
    Regression(
        "a window function in IN, of several types",
        "SELECT DISTINCT (CASE WHEN 1 THEN 1 ELSE MIN('a') OVER (ORDER BY owner) END IN (SELECT name FROM "
        "person GROUP BY name)) FROM item",
    ),
    Regression(
        "the quotient of an integer beyond 2^53 and a text",
        "SELECT ((x1.n / code) || 1) FROM extreme AS x1, event AS T2",
        untranslatable=LOADED,
    ),
    Regression(
        "a frame of groups that a constant sorts",
        "SELECT COUNT(1) OVER (ORDER BY NULL GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM item",
        untranslatable=LOADED,
    ),
    Regression("the least integer, printed with zeros", "SELECT printf('%03d!', n) FROM extreme"),
    Regression(
        "an integer beyond 2^53 and a number that is read from a text",
        "SELECT n + num, n - num > 5, 9007199254740993 * num FROM extreme JOIN dirty USING (id)",
    ),
    Regression(
        "a computed LIMIT behind an order that is not returned, in FROM",
        "SELECT 1 FROM (SELECT n AS k FROM extreme GROUP BY k ORDER BY GROUP_CONCAT(1), 1 LIMIT (SELECT 2))",
    ),
    Regression(
        "DISTINCT of an outer column, sorted",
        "SELECT (value IN (SELECT DISTINCT GLOB('*', num) FROM void ORDER BY 1)) FROM event, dirty",
    ),
    Regression("the greatest of a large integer and a fraction", "SELECT MAX(n, 0.5, 1) FROM extreme"),
    Regression(
        "sums beyond 64 bits that are sorted with fractions",
        "SELECT id FROM person ORDER BY -9223372036854775808 - IIF(boss, seen, born), id",
        untranslatable=LOADED,
    ),
    Regression(
        "abs() of the least integer in a branch that is not taken",
        "SELECT IIF(LAG(1, 2, 1) OVER (ORDER BY id) < 1, abs(n), n) FROM extreme",
    ),
    Regression(
        "EXCEPT that is looked up from two places",
        "WITH c(n) AS (SELECT id FROM person EXCEPT SELECT 1 FROM void) "
        "SELECT 1 FROM c UNION ALL SELECT 2 FROM c WHERE NOT n <> 1",
    ),
    Regression(
        "INTERSECT that is looked up from two places",
        "WITH c AS (SELECT id AS n FROM person INTERSECT SELECT id FROM person) "
        "SELECT (SELECT count(*) FROM c WHERE n = id), (SELECT count(*) FROM c WHERE n = id + 1) FROM person",
    ),
    Regression(
        "more windows than MySQL takes",
        "SELECT max('a', max('a', max(lead(made, 1) OVER v, 'a', 'a'), made)) FROM item "
        "WINDOW w AS (), v AS (w ORDER BY id)",
    ),
    Regression(
        "DISTINCT by a collation of what a window gives",
        "SELECT DISTINCT IIF(LAST_VALUE(1) OVER (ORDER BY id) COLLATE RTRIM < 1, 'a', NULL) FROM extreme",
        untranslatable=LOADED,
    ),
    Regression(
        "rows of an outer SELECT counted in a subquery by an alias",
        "SELECT count(*) AS c FROM kind GROUP BY code HAVING 1 >= "
        "(SELECT c FROM (SELECT grade FROM dirty GROUP BY grade))",
        untranslatable=LOADED,
    ),
    Regression(
        "large integers and fractions in a sorted compound",
        "SELECT 1 FROM dirty UNION SELECT n FROM extreme UNION SELECT 0.5 FROM person ORDER BY 1",
        ordered=True,
        untranslatable=LOADED,
    ),
    Regression(
        "IS with the alias of TRUE",
        "SELECT name, true AS c FROM person GROUP BY name HAVING 0.5 IS c",
    ),
    Regression(
        "IS NOT with the alias of FALSE",
        "SELECT name, false AS c FROM person WHERE 0.5 IS NOT c",
    ),
    Regression(
        "a grouped number that is an INTEGER or not by a column that is not grouped",
        "SELECT 1 FROM person GROUP BY IIF(id > 3, id, 2.5) HAVING IIF(id > 3, id, 2.5) LIKE 1",
        untranslatable=LOADED,
    ),
    Regression(
        "a text cut in two where something is found in it, or nothing, or at its end",
        "SELECT substr(name, instr(name, 'n') + 1), substr(name, 1, instr(name, 'n') - 1) FROM person",
    ),
    Regression(
        "large integers and fractions in a sorted compound, beside an empty table",
        "SELECT 0.5 AS c FROM item UNION SELECT MIN(amount) FROM void GROUP BY id "
        "UNION SELECT n FROM extreme ORDER BY c",
        ordered=True,
        untranslatable=LOADED,
    ),
    Regression(
        "an outer aggregate of no rows two subqueries down",
        "SELECT MIN(t1.id), (SELECT 1 FROM extreme WHERE (SELECT 1 FROM kind t2 WHERE COALESCE(t2.WEIGHT, "
        "t1.code) ORDER BY 1 DESC LIMIT 1 OFFSET 1)) FROM item AS t1 WHERE 'a'",
    ),
    Regression(
        "a key that is no column in a subquery of HAVING",
        "SELECT 1, id AS k FROM item FULL JOIN void USING (id) GROUP BY k HAVING (1 IS (SELECT 1 FROM person "
        "WHERE 1 < k))",
    ),
    Regression(
        "an aggregate of a constant looked for in a query",
        "WITH RECURSIVE rec(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rec WHERE n < 5) SELECT 1 FROM rec "
        "GROUP BY 'a' HAVING SUM(CASE WHEN 1 THEN 1.0 ELSE 0 END) IN rec",
        untranslatable=LOADED,
    ),
    Regression(
        "shifted by the integer that a real is cut to",
        "SELECT (1 >> (n + 0.5)) FROM extreme",
    ),
    Regression(
        "one less than the integer that a great real is cut to",
        "SELECT (1 - CAST(x AS INTEGER)) FROM extreme",
    ),
    Regression(
        "different sums beyond 64 bits",
        "SELECT DISTINCT (-9223372036854775808 - n) FROM extreme",
        untranslatable=LOADED,
    ),
    Regression(
        "a long list in a part of a compound",
        "SELECT 1 UNION ALL SELECT length((SELECT GROUP_CONCAT(a.x) FROM (SELECT status || status AS x FROM "
        "sailings ORDER BY status) AS a))",
        db_id="island_ferries",
    ),
    Regression(
        "an aggregate of a query whose column another table has, too",
        "SELECT T1.code FROM kind AS T1 JOIN person T2 ON 1 IS 1 WHERE (1 < (SELECT MAX((SELECT id AS id "
        "FROM dirty ORDER BY 1 DESC LIMIT 1)) FROM event x3))",
    ),
    Regression(
        "the less of a great number and a count in a product",
        "SELECT (MIN(extreme.n, (SELECT COUNT(*) FROM kind AS q2 WHERE q2.`order` = 1)) * CURRENT_DATE) "
        "FROM extreme",
    ),
    Regression(
        "NULL that could have been a number or a text, sorted",
        "SELECT made, 1, CASE WHEN owner THEN price ELSE label END AS c2 FROM item ORDER BY c2, 1, 2, 3",
        ordered=True,
    ),
    Regression(
        "a computed constant that an outer join makes NULL",
        "SELECT 1 FROM Vessels t1 LEFT JOIN (SELECT iif(1, 1, 1) AS c4 FROM Vessels AS t2) d5 ON 'a' == 1"
        " WHERE d5.c4",
        db_id="island_ferries",
    ),
    Regression(
        "a remainder by a window over one row",
        "SELECT (column1 % SUM(v1.column1) OVER (ORDER BY v1.column1)) AS c3 FROM (VALUES (10, 'x')) AS v1",
    ),
    Regression(
        "a key without columns in a subquery of HAVING",
        "SELECT 1 FROM [Storm Alerts] GROUP BY STRFTIME('%Y-%m', 'now') HAVING (NOT EXISTS (SELECT STRFTIME("
        "'%Y-%m', 'now'), elevation_m FROM stations AS T2 UNION SELECT 1 AS c4, 1 FROM stations AS t3))",
        db_id="mountain_weather",
    ),
    Regression(
        "a key in the HAVING of a subquery of HAVING",
        "SELECT passengers, passengers AS k2, t1.RouteID AS k3 FROM sailings t1 GROUP BY k2, k3 HAVING (NOT "
        "EXISTS (SELECT 1 FROM (VALUES (1, 'a')) AS v4 GROUP BY v4.column2 HAVING (1 OR passengers)))",
        db_id="island_ferries",
        untranslatable=(Dialect.MYSQL, Dialect.MARIADB),
    ),
    Regression(
        "a number and a text that FULL JOIN makes one column",
        "WITH RECURSIVE rec1(id, level) AS (SELECT taxon_id, 0 FROM taxa WHERE taxon_id = 15 UNION ALL "
        "SELECT t.taxon_id, r.level + 1 FROM taxa AS t JOIN rec1 AS r ON t.parent_id = r.id) SELECT level "
        "FROM rec1 NATURAL FULL JOIN taxa t2",
        db_id="botanic_garden",
        untranslatable=LOADED,
    ),
    Regression(
        "a window under DISTINCT in a CASE of numbers and texts",
        "SELECT DISTINCT CASE WHEN 1 THEN MAX('a') OVER () WHEN 1 THEN (1 COLLATE NOCASE != 1) END FROM item",
        untranslatable=LOADED,
    ),
    Regression(
        "a table called like a derived table that has no name",
        "SELECT * FROM kind AS _q1, (SELECT id AS x FROM person)",
    ),
    Regression(
        "a column of a table called like a derived table",
        "SELECT (SELECT COUNT(*) FROM (SELECT id FROM item) WHERE id < _q1.id) FROM person AS _q1",
    ),
    Regression(
        "a table called like an emulated FULL JOIN",
        "SELECT _full1.id, i.label, p.name FROM person AS _full1 FULL JOIN item AS i ON _full1.id < i.owner "
        "FULL JOIN person AS p ON p.id > i.owner",
    ),
    Regression(
        "columns called like those without a name",
        "SELECT * FROM (SELECT 1 AS _c2, 2, 3 AS _c1, 4 FROM person)",
    ),
    Regression(
        "columns whose names are the same with those of their tables before them",
        'SELECT "a.b".code, a."b.code", _place FROM (SELECT code, 1 AS _place FROM kind) AS "a.b" FULL JOIN '
        '(SELECT code AS "b.code" FROM item) AS a ON "a.b".code < a."b.code"',
    ),
    Regression(
        "EXISTS of an outer join of which statistics show that nothing matches",
        "SELECT 1 FROM event WHERE EXISTS (SELECT 1 FROM item LEFT JOIN person ON NOT person.id)",
    ),
    Regression(
        "LIMIT of an outer join of which statistics show that nothing matches",
        "SELECT COUNT(*) FROM (SELECT 1 FROM item LEFT JOIN person ON NOT person.id LIMIT 1)",
    ),
    Regression(
        "NOT EXISTS of an aggregate in HAVING",
        "SELECT 1 FROM person GROUP BY born HAVING NOT EXISTS"
        " (SELECT CASE 'a' WHEN 0 THEN COUNT(DISTINCT 1) END FROM event WHERE 1 = born AND 1)",
    ),
    Regression(
        "a row IN a subquery that reads an outer row",
        'SELECT (1, 1) IN (SELECT kind."order", 1 FROM extreme) FROM kind',
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression(
        "a window sorted by another window",
        "SELECT SUM(1) OVER (ORDER BY (SELECT NTILE(1) OVER (ORDER BY id) FROM item LIMIT 1)) FROM kind",
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression(
        "a window sorted by a subquery in a subquery",
        "SELECT ROW_NUMBER() OVER (ORDER BY (SELECT 1 FROM item WHERE 1 < (SELECT 1 FROM kind)), id)"
        " FROM person",
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression(
        "the decimals of PERCENT_RANK and CUME_DIST",
        "SELECT PERCENT_RANK() OVER (ORDER BY a.id, b.id), CUME_DIST() OVER (ORDER BY a.id, b.id)"
        " FROM dirty AS a, dirty AS b",
    ),
    Regression(
        "OFFSET of a constant subquery",
        "SELECT DISTINCT (SELECT 2 LIMIT 1) FROM person ORDER BY 1 LIMIT 5 OFFSET 3",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "OFFSET of a constant of a derived table",
        "SELECT DISTINCT 1, d.c FROM (SELECT 1 AS c FROM dirty) AS d ORDER BY 1, 2 LIMIT 2 OFFSET 1",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "an integer beyond 64 bits as a text",
        "SELECT 1 FROM kind WHERE JSON_VALID((- -9223372036854775808))",
    ),
    Regression(
        "an aggregate IN a subquery of HAVING",
        "SELECT score FROM person GROUP BY score"
        " HAVING (score IN (SELECT DISTINCT x.score FROM person AS x))",
    ),
    Regression(
        "a column that its group determines IN a subquery of HAVING",
        "SELECT 1 FROM item GROUP BY id, label HAVING item.price IN (SELECT height FROM person)",
    ),
    Regression(
        "a moment before the first one between two modifiers",
        "SELECT datetime(weight, '-00:00:01', '+01:30') FROM kind",
    ),
    Regression(
        "an aggregate of a constant and of a subquery that reads an outer row",
        "SELECT (SELECT MAX(COALESCE(1, (SELECT t1.id FROM dirty))) FROM kind) FROM person AS t1",
        untranslatable=LOADED,
    ),
    Regression(
        "INTERSECT without regard to case next to a common table expression",
        "WITH c AS (SELECT nick FROM person)"
        " SELECT LOWER(nick) COLLATE NOCASE FROM c INTERSECT SELECT 'ANN' FROM c",
    ),
    Regression(
        "an outer table by the name of a column",
        "SELECT (SELECT person.nick FROM event ORDER BY 1 LIMIT 1) FROM person",
    ),
    Regression(
        "a row NOT IN a subquery that reads an outer row",
        "SELECT 1 FROM event AS e WHERE ('a', 1) NOT IN (SELECT 'a', e.value FROM item)",
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression(
        "a row with a subquery NOT IN a subquery",
        "SELECT 1 FROM dirty WHERE ('a', (SELECT 1 FROM extreme)) NOT IN (SELECT 'a', 1 FROM person)",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "a row that is a union IN a subquery",
        "SELECT (SELECT 3, 4 UNION SELECT 5, 6 ORDER BY 1 DESC) IN (SELECT 5, 6)",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "an outer join on outer rows alone",
        "SELECT (SELECT SUM(1) FROM dirty AS d RIGHT JOIN person AS p ON person.name) FROM person",
    ),
    Regression(
        "a text of a window in a function, next to another window",
        "SELECT MIN(ticket) OVER (ORDER BY amount) || at || MAX('' || code) OVER (ORDER BY at) FROM event",
    ),
    Regression(
        "a text of a window that is sorted often",
        "SELECT DATETIME(MIN('2020-02-29') OVER (ORDER BY 1)), DATETIME(MAX('2020-02-29') OVER (ORDER BY id))"
        " FROM extreme",
    ),
    Regression(
        "OFFSET without FROM",
        "WITH c(n) AS (SELECT 1) SELECT (SELECT 1 IN (SELECT n FROM c) ORDER BY 1 LIMIT 1 OFFSET 1)",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "a window with a frame in the order of another window",
        "SELECT RANK() OVER (ORDER BY (SELECT NTH_VALUE(id, 2) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND"
        " 1 FOLLOWING) FROM item ORDER BY 1 DESC LIMIT 1)) FROM kind",
        untranslatable=(Dialect.DUCKDB, Dialect.MARIADB),
    ),
    Regression(
        "a fraction in ON of an outer join",
        "SELECT d.id, e.id FROM kind LEFT JOIN dirty d ON d.id = 1.5 LEFT JOIN dirty e ON e.id IN (1.5)",
    ),
    Regression("a formatted integer beyond 2^53 plus 1", "SELECT FORMAT('%+d', n) + 1 FROM extreme"),
    Regression(
        "a constant condition as a key next to COUNT",
        "SELECT COUNT(1), 1, ('2020-01-01' NOT LIKE '%b_x%') FROM far GROUP BY 3",
    ),
    Regression("a shift by the least integer", "SELECT 2 >> -9223372036854775808 FROM event"),
    Regression(
        "texts as numbers next to one that reads as an infinite number",
        "SELECT num + 0 FROM dirty WHERE num <> '1e999'",
        untranslatable=(Dialect.MYSQL, Dialect.MARIADB),
    ),
    Regression("a window over long texts", "SELECT MAX(f.essay) OVER () FROM far AS f JOIN dirty ORDER BY 1"),
    Regression("LEAD in no order", "SELECT LEAD(2, 0, 1) OVER (ORDER BY d.c) FROM (SELECT NULL AS c) AS d"),
    Regression("NOT of a constant in ORDER BY", "SELECT n, 1 NOT LIKE 1 FROM extreme ORDER BY 1, 2"),
    Regression(
        "texts of 17,000 characters that differ at their end",
        "SELECT essay, digits FROM far ORDER BY ROUND(big) DESC, 1, 2 LIMIT 3",
        ordered=True,
    ),
    Regression(
        "a key with the name of an outer row's column",
        "SELECT id FROM dirty AS d WHERE NOT EXISTS (SELECT id, d.id FROM far GROUP BY doc, id)",
    ),
    Regression("the least integer through 1", "SELECT n / 1, n / id FROM extreme"),
    Regression(
        "a key in IN of a sorted HAVING",
        "SELECT item AS k FROM label GROUP BY k HAVING 1 NOT IN (SELECT item FROM far) ORDER BY k NULLS LAST",
        ordered=True,
    ),
    Regression(
        "a shift in two places of a translation", "SELECT LEAD('a', 2, 'a') OVER (ORDER BY id) / 1 FROM item"
    ),
    Regression(
        "an indexed integer that equals a fraction", "SELECT id FROM person WHERE boss = 1.5 OR boss IN (2.5)"
    ),
    Regression("no row between wholes", "SELECT id FROM person WHERE NOT boss <> 1.5"),
    Regression(
        "an indexed integer that equals a mean",
        "SELECT id FROM person WHERE boss = (SELECT AVG(boss) FROM person)",
    ),
    Regression(
        "a text as a condition beside a window over a subquery",
        "SELECT LEAD(code, 2, 'a') OVER (ORDER BY person, at) FROM (SELECT * FROM event) WHERE code",
    ),
    Regression(
        "a text as a number in a subquery below a window",
        "WITH c AS (SELECT code FROM event WHERE CAST(code AS REAL) <> 0) SELECT MAX(code) OVER () FROM c",
    ),
    Regression(
        "distinct moments that are NULL",
        "SELECT COUNT(DISTINCT DATE(DATE('now') || 'x')) FROM person GROUP BY boss",
    ),
    Regression(
        "a distinct NULL of a subquery in a subquery",
        "SELECT COUNT(DISTINCT v) FROM (SELECT v FROM (SELECT (SELECT id FROM void) AS v, id FROM person)"
        " WHERE id)",
    ),
    Regression(
        "the least integer without its sign", "SELECT - -9223372036854775808, (- -9223372036854775808) % 7"
    ),
    Regression(
        "texts beyond 2^53 equal to themselves as numbers",
        "SELECT big FROM far WHERE digits = CAST(digits AS NUMERIC)",
    ),
    Regression(
        "an aggregate IN a subquery",
        "SELECT boss, MIN(id) IN (SELECT id FROM item) FROM person GROUP BY boss"
        " ORDER BY MIN(id) IN (SELECT 2), 1",
        ordered=True,
    ),
    Regression(
        "a longer text in the place of a short one", "SELECT DISTINCT REPLACE(code, 'a', 'bcd') FROM event"
    ),
    Regression(
        "a computed LIMIT of a correlated subquery",
        "SELECT (SELECT label FROM label WHERE item = o.id ORDER BY 1 LIMIT (SELECT 1)) FROM item AS o",
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression("a constant IN a union with NULL", "SELECT 77 IN (SELECT boss FROM person UNION SELECT 2)"),
    Regression(
        "a constant IN a union with NULL in FROM",
        "SELECT 77 IN (SELECT c FROM (SELECT boss AS c FROM person UNION SELECT 2))",
    ),
    Regression(
        "an aggregate that SQLite drops",
        "SELECT (0 AND MIN(1)) FROM item",
        untranslatable=LOADED,
    ),
    Regression(
        "an aggregate that SQLite drops with an empty list",
        "SELECT MAX(1) NOT IN () FROM item",
        untranslatable=LOADED,
    ),
    Regression(
        "an empty list beside an aggregate of groups", "SELECT MAX(id) NOT IN () FROM item GROUP BY owner"
    ),
    Regression("a query that nothing reads", "WITH a AS (SELECT nosuch FROM item) SELECT id FROM item"),
    Regression(
        "years of a column that a join makes equal to other texts",
        "SELECT x.ticket FROM event AS t JOIN event AS x ON x.code = t.at WHERE t.at GROUP BY 1",
    ),
    Regression(
        "a column in an expression with a window over a subquery",
        "SELECT CASE amount WHEN -5 THEN LEAD(code) OVER (ORDER BY code) ELSE code END FROM"
        " (SELECT * FROM event) WHERE code + 0",
    ),
    Regression(
        "a real number IN a subquery of integers",
        "SELECT height NOT IN (SELECT owner FROM item) FROM person",
    ),
    Regression(
        "a row IN a query with two columns of one name",
        "SELECT id FROM item WHERE (1, 1) NOT IN (SELECT v, V FROM"
        " (SELECT RANK() OVER (ORDER BY 1) AS v FROM kind))",
    ),
    Regression(
        "a negated text beside 0.0 and texts",
        "SELECT MIN(-(SELECT 'a' FROM label), mixed), 1 FROM extreme UNION SELECT 0.0, label FROM label",
    ),
    Regression(
        "zeros of both signs in groups of several keys",
        "SELECT c, label, COUNT(*) FROM (SELECT x * -1 AS c, label FROM extreme JOIN label ON label = 'x'"
        " WHERE x = 0 UNION ALL SELECT 0.0, 'x') GROUP BY 1, 2",
    ),
    Regression(
        "zeros of both signs in an intersection", "SELECT -x / 3 FROM extreme INTERSECT SELECT x FROM extreme"
    ),
    Regression(
        "a text that says -0 beside 0.0",
        "SELECT CAST(num AS REAL), label FROM dirty JOIN label WHERE num = '-'"
        " UNION SELECT 0.0, label FROM label",
    ),
    Regression(
        "a NULL that INTERSECT leaves out, in IN",
        "SELECT 1 FROM person WHERE (1 IN (SELECT boss FROM person INTERSECT SELECT 100)) IS NOT NULL",
    ),
    Regression(
        "a NULL of UNION that INTERSECT leaves out, in IN",
        "SELECT 1 IN (SELECT id FROM item UNION SELECT NULL INTERSECT SELECT 100)",
    ),
    Regression(
        "a midnight before the first day, moved",
        "SELECT date(date(id - 1), '+1 day'), datetime(date(1 - id), '+12 hours') FROM item",
    ),
    Regression(
        "zeros of both signs by functions that keep the sign",
        "SELECT total(x * -1), label FROM extreme JOIN label WHERE x = 0 GROUP BY label"
        " UNION SELECT sin(-x), label FROM extreme JOIN label WHERE x = 0 UNION SELECT 0.0, label FROM label",
    ),
    Regression(
        "a product beyond 64 bits of operands beyond 2^53, whose rounded values are equal",
        "SELECT DISTINCT digits * big, (digits + big) * 1 FROM far",
    ),
    Regression(
        "a text as an integer beyond 2^53 beside a real number",
        "SELECT x = CAST(num AS INTEGER), x < CAST(num AS INTEGER) + 1 FROM extreme, dirty",
    ),
    Regression(
        "a text as an integer beyond 2^53, united with real numbers",
        "SELECT CAST(num AS INTEGER) FROM dirty UNION SELECT x FROM extreme",
    ),
    Regression(
        "a sum beyond 2^53 beside a real number",
        "SELECT MAX(big) = x, SUM(big) = x FROM far, extreme GROUP BY x",
    ),
    Regression(
        "a number IN integers of a derived table",
        "SELECT id, mixed IN (SELECT MIN(2) FROM event GROUP BY amount) FROM extreme",
    ),
    Regression(
        "a group's key in a subquery of an aggregate of HAVING",
        "SELECT 1 FROM item GROUP BY price, amount HAVING MAX((SELECT item.price FROM extreme))",
    ),
    Regression(
        "a group's key in a subquery of FILTER",
        "SELECT name, score AS k FROM person GROUP BY name, k"
        " HAVING SUM(1) FILTER (WHERE (SELECT COUNT(*) FROM kind WHERE kind.`order` = score))",
    ),
    Regression(
        "a bare column in a subquery of HAVING",
        "SELECT boss, TIME(IFNULL(seen, '2020-02-29'), '+1.5 days') AS k FROM person AS t GROUP BY k, boss"
        " HAVING NOT EXISTS (SELECT 1 FROM dirty WHERE 1 = TIME(IFNULL(seen, '2020-02-29'), '+1.5 days'))",
    ),
    Regression(
        "a subquery of differences beyond 64 bits beside a fraction",
        'SELECT 1 FROM kind WHERE 0.5 NOT IN (SELECT 9223372036854775807 - "order" FROM kind)',
    ),
    Regression(
        "a window over products beyond 64 bits beside a fraction",
        "SELECT CASE 0.5 WHEN LAST_VALUE(-9223372036854775808 * id) OVER (ORDER BY id) THEN 1 END FROM far",
    ),
    Regression(
        "integers and reals as texts beside a window",
        "SELECT LOWER(LEAD(COALESCE(MAX(1, height), nick)) OVER (ORDER BY id)) FROM person",
    ),
    Regression(
        "a window's rank, divided, beside another window",
        "SELECT FIRST_VALUE(0.0) OVER (ORDER BY id) - CUME_DIST() OVER (PARTITION BY owner ORDER BY id DESC),"
        " PERCENT_RANK() OVER (PARTITION BY owner ORDER BY id) FROM item",
    ),
    Regression(
        "an alias that is also the last column of CASE, in ORDER BY",
        "SELECT NULLIF(code, 1), ticket || code AS code FROM event ORDER BY 1, 2",
    ),
    Regression(
        "sorted by a text of several long ones",
        "SELECT id FROM far ORDER BY (essay || essay || essay || essay) DESC, id",
    ),
    Regression(
        "a window IN a subquery of outer rows that has to be converted",
        "SELECT DISTINCT MIN(1) OVER () IN (SELECT t.name FROM item) FROM person AS t",
        untranslatable=(Dialect.MYSQL, Dialect.MARIADB),
    ),
    Regression(
        "a rank beside a window that is sorted by a constant subquery",
        "SELECT RANK() OVER (ORDER BY owner), TOTAL(1) OVER (ORDER BY (SELECT 1 FROM kind) NULLS LAST)"
        " FROM item",
    ),
    Regression(
        "a computed LIMIT of the only row of an aggregate",
        "SELECT MIN(person), (\"a-b\" GLOB '') AS k FROM label GROUP BY k ORDER BY 1, 2 LIMIT (SELECT 2)",
    ),
    Regression(
        "a window that a long expression repeats",
        "SELECT COALESCE(MAX(LEAD(x) OVER (ORDER BY id), 1), 'a'), id FROM extreme"
        " EXCEPT SELECT 1, 'a' FROM far",
    ),
    Regression(
        "a place in the ORDER BY of a merged subquery",
        "SELECT (SELECT c2 FROM (SELECT k.`order` AS c1, name || '' AS c2 FROM person WHERE boss = k.`order`"
        " ORDER BY 1, 2, c1) AS d) FROM kind AS k",
    ),
    Regression(
        "a row with a subquery of a subquery IN a subquery",
        "SELECT ((SELECT c FROM (SELECT '10' AS c) WHERE code), code) IN (SELECT day, num FROM dirty)"
        " FROM kind",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "aggregates of integers beyond 2^53, texts and real numbers",
        "SELECT SUM(CASE WHEN id < 4 THEN big ELSE .5 END) + 1, MAX(CASE WHEN id < 3 THEN big ELSE 1e15 END),"
        " SUM(CASE WHEN id % 2 THEN big ELSE digits END), MIN(CASE id WHEN 3 THEN big ELSE -9e15 + id END)"
        " FROM far GROUP BY id > 3",
    ),
    Regression(
        "a condition on the last table of a merged subquery",
        "SELECT (SELECT COUNT(*) FROM event AS e JOIN (SELECT p.height AS h, f.id FROM far AS f JOIN person p"
        " ON f.id < 3 WHERE k.`order` = p.id) AS d ON d.h = 1.75 OR d.id = e.amount) FROM kind AS k",
    ),
    Regression(
        "sorted by a real number beyond 2^127 or an integer beyond 2^53",
        "SELECT id FROM extreme ORDER BY IIF(id % 3 = 1, MAX(x, 1), n), id",
        ordered=True,
    ),
    Regression(
        "a row with a window IN a subquery of an outer column",
        "SELECT (id, LAG(id) OVER (ORDER BY id)) IN (SELECT x.id, person FROM event) FROM item AS x",
        untranslatable=(Dialect.DUCKDB, Dialect.MARIADB),
    ),
    Regression(
        "a window IN a subquery of outer rows",
        "SELECT LAG(id) OVER (ORDER BY id) IN (SELECT person FROM event AS e WHERE e.code = x.code)"
        " FROM item AS x",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "a sum of distinct integers beyond 2^53 beside a fraction",
        "SELECT SUM(DISTINCT big), COALESCE(SUM(big), 0.5), COALESCE(SUM(big), 0) = 0.5 + SUM(big) FROM far"
        " UNION SELECT 0.5, 1, 2",
    ),
    Regression(
        "joined rows sorted by long texts",
        "SELECT f.id, LENGTH(essay) FROM far AS f JOIN extreme JOIN event ORDER BY essay, f.id",
    ),
    Regression(
        "EXISTS of groups that return an outer column twice",
        "SELECT id FROM item t WHERE EXISTS (SELECT (SELECT t.made FROM kind LIMIT 1 OFFSET 1), t.made FROM"
        " dirty GROUP BY day)",
    ),
    Regression(
        "an aggregate IN a subquery of the group",
        "SELECT score, MAX(id) IN (SELECT amount FROM event WHERE person = p.score) FROM person AS p"
        " GROUP BY score",
        untranslatable=(Dialect.MARIADB,),
    ),
    Regression(
        "an aggregate IN a subquery of the group, in HAVING",
        "SELECT score FROM person AS p GROUP BY score"
        " HAVING MAX(id) IN (SELECT amount FROM event WHERE person = p.score)",
    ),
    Regression(
        "groups sorted by an aggregate beside a subquery of the group",
        "SELECT score FROM person AS p GROUP BY score ORDER BY (SELECT MAX(amount) FROM event WHERE person ="
        " p.score) + MAX(id), score",
        ordered=True,
        untranslatable=(Dialect.MYSQL,),
    ),
    Regression(
        "windows and results that an aggregate and a subquery of the group make",
        "SELECT COUNT(*) + (SELECT MAX(amount) FROM event WHERE person = p.score) AS v, RANK() OVER (ORDER BY"
        " COUNT(*) + (SELECT MAX(amount) FROM event WHERE person = p.score)) FROM person AS p GROUP BY score"
        " ORDER BY v, score",
        ordered=True,
    ),
    Regression(
        "remainders of texts that read as reals, and texts of which one is beyond 2^53",
        "SELECT (0 % digits) || '', (5 % digits) || 'x', 0 % digits, LTRIM(7 % digits, 1) FROM far",
    ),
    Regression(
        "a text beyond 2^53 that CASE puts beside others",
        "SELECT - CASE 1 WHEN 'a' THEN 'a' ELSE ticket END FROM event",
    ),
    Regression(
        "roundings of doubles in temporary tables",
        "SELECT DISTINCT CEIL(CAST(n AS REAL)), FLOOR(CAST(n AS REAL)), TRUNC(CAST(n AS REAL)) FROM extreme",
    ),
    Regression(
        "ranks of equal rows that INTERSECT reads",
        "SELECT person, RANK() OVER (ORDER BY value NULLS LAST) FROM label INTERSECT SELECT 2, id FROM dirty",
    ),
    Regression(
        "outer columns of the name of a key: in the result",
        "SELECT 1 FROM item WHERE EXISTS (SELECT * FROM (SELECT item.price AS c, price AS d FROM item AS i"
        " ORDER BY 1, 2))",
    ),
    Regression(
        "outer columns of the name of a key: in a window",
        "SELECT 1 FROM dirty AS d WHERE (SELECT AVG(1) OVER (PARTITION BY d.id ORDER BY f.id) FROM far AS f"
        " ORDER BY 1 DESC LIMIT 1)",
    ),
    Regression(
        "a quotient of a window over a constant beyond 32 bits",
        "SELECT DISTINCT LAST_VALUE(3155673598) OVER (ORDER BY label, person, item) / 1 FROM label",
    ),
    Regression(
        "a row with a constant, not in set operations with NULL",
        "SELECT 1 FROM routes WHERE (from_port, 'a') NOT IN (SELECT \"order\", NULL FROM routestops EXCEPT"
        " SELECT 1, 'a' FROM fares UNION SELECT 1, 'a' FROM routes)",
        db_id="island_ferries",
    ),
    Regression(
        "a condition or an integer beyond 32 bits that LEAD shifts",
        "SELECT LEAD(NULL = 31, 1, big) OVER (ORDER BY id), LEAD(big > 9, 1, big) OVER (ORDER BY id)"
        " FROM far",
    ),
    Regression(
        "a subquery IN another one in ON of a RIGHT JOIN",
        "SELECT num FROM dirty RIGHT JOIN event ON (SELECT id FROM far ORDER BY id LIMIT 1) NOT IN"
        " (SELECT event.person FROM item)",
        untranslatable=(Dialect.DUCKDB,),
    ),
    Regression(
        "the end of a text from a place beyond 32 bits on",
        "SELECT substr(title, isbn) FROM books",
        db_id="city_library",
    ),
    Regression(
        "the greatest text of letters beyond ASCII and a number",
        "SELECT MAX(grade || loose), MIN(REPLACE(loose || '', '1', grade)) FROM dirty GROUP BY loose",
    ),
    Regression(
        "aggregates beside a window of rows that a subquery excludes",
        "SELECT COUNT(*), MIN(1), SUM(1) OVER () FROM item JOIN kind ON 1 < (SELECT MAX(0) FROM label, far)",
    ),
    Regression(
        "EXISTS of windows under INTERSECT",
        "SELECT 1 FROM kind WHERE NOT EXISTS (SELECT LAST_VALUE(weight) OVER (ORDER BY code), code FROM kind"
        " INTERSECT SELECT value, '10' FROM event)",
    ),
    Regression(
        "a window of texts under INTERSECT with integers",
        "SELECT LAST_VALUE('a') OVER (ORDER BY id) AS c, 1 AS d FROM item INTERSECT SELECT 1, 1 FROM kind"
        " ORDER BY 1, 2",
    ),
    Regression(
        "a text that is longer than those of a window, looked up among them",
        "SELECT 'abc' IN (SELECT LEAD('a') OVER (ORDER BY id) FROM person),"
        " 'a' IN (SELECT DISTINCT LEAD('') OVER (ORDER BY id) FROM person), (1, 'abc') IN (SELECT DISTINCT"
        " id, CASE WHEN id > 2 THEN 'ab' END FROM item)",
    ),
    Regression(
        "a distribution beside a window of another order",
        "SELECT CUME_DIST() OVER (ORDER BY item DESC), DENSE_RANK() OVER (PARTITION BY value ORDER BY 1),"
        " PERCENT_RANK() OVER (ORDER BY item) FROM label",
    ),
    Regression(
        "the least of many long texts that leave a frame",
        "SELECT MIN(IFNULL(at || 'x', essay)) OVER (ORDER BY person RANGE BETWEEN 2 PRECEDING AND 2"
        " FOLLOWING) FROM far, event",
    ),
    Regression(
        "a window and a subquery that no row satisfies, DISTINCT",
        "SELECT DISTINCT LAG(1, 2) OVER (ORDER BY id), 1 + (SELECT MAX(1) FROM label WHERE 0 AND person ="
        " item.id) FROM item",
    ),
    Regression(
        "numbers of several kinds that LEAD shifts, sorted",
        "SELECT LEAD((SELECT SUM(CASE WHEN 1 THEN 1.0 ELSE 0 END) FROM void), 2, 0.5) OVER (ORDER BY label,"
        " person, item) FROM label ORDER BY 1",
        ordered=True,
    ),
    Regression(
        "a name IN moments of a window",
        "SELECT name IN (SELECT STRFTIME('%m', MIN(1) OVER (ORDER BY id), 'weekday 1') FROM extreme)"
        " FROM person",
    ),
    Regression(
        "a computed NULL that LEAD shifts",
        "SELECT LEAD(CASE grade WHEN 'b' THEN 1 ELSE 'a' END % 0, 1, 10) OVER (ORDER BY id) FROM dirty",
    ),
    Regression(
        "bits of the greatest of differences beyond 64 bits",
        "SELECT MAX(-9223372036854775808 - delay_min) >> 1 FROM sailings GROUP BY departed",
        db_id="island_ferries",
    ),
    Regression(
        "a sum of the greatest of differences beyond 64 bits",
        "SELECT MAX(-9223372036854775808 - delay_min) + 1 FROM sailings GROUP BY departed",
        db_id="island_ferries",
        untranslatable=LOADED,
    ),
    Regression(
        "a constant of rows that are joined to none, counted and summed",
        "SELECT MAX(flag), COUNT(flag), SUM(flag) FROM (SELECT flag FROM vessels s LEFT JOIN (SELECT name,"
        " 1 AS flag FROM vessels) AS t ON s.name = t.name || 'x')",
        db_id="island_ferries",
    ),
    Regression(
        "a constant of rows that are joined to none, in a window",
        "WITH q AS (SELECT name, 1 AS flag FROM vessels) SELECT SUM(q.flag) OVER () FROM vessels s"
        " LEFT JOIN q ON s.name = q.name AND s.name > 'N'",
        db_id="island_ferries",
    ),
    Regression(
        "a constant of rows that are joined to none, of other rows of a window",
        "SELECT v.id, LAG(flag) OVER (ORDER BY v.id), LEAD(flag, 1, 'z') OVER (ORDER BY v.id),"
        " LAST_VALUE(flag) OVER (ORDER BY v.id) FROM item v LEFT JOIN (SELECT id, 'a' AS flag FROM item) AS t"
        " ON t.id = v.id AND v.id > 2",
    ),
    Regression(
        "the ceiling of digits beyond 2^53",
        "SELECT CEIL((SELECT MAX(ticket) FROM event)), FLOOR(ticket) FROM event",
    ),
)
