-- windows over tied rows
SELECT id, SUM(points) OVER (ORDER BY points, id ROWS UNBOUNDED PRECEDING) FROM pupil;
SELECT id, AVG(points) OVER (PARTITION BY house ORDER BY born, id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM pupil;
SELECT id, SUM(points) OVER (PARTITION BY house ORDER BY born) FROM pupil;
SELECT id, SUM(points) OVER (ORDER BY born RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM pupil;
SELECT id, MAX(points) OVER (PARTITION BY house ORDER BY born ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM pupil;
SELECT born, COUNT(*) OVER (ORDER BY born ROWS UNBOUNDED PRECEDING) FROM pupil;
SELECT born, SUM(n) OVER (ORDER BY born ROWS 2 PRECEDING) FROM (SELECT born, COUNT(*) AS n FROM pupil GROUP BY born);
SELECT born, SUM(COUNT(*)) OVER (ORDER BY born ROWS 2 PRECEDING), ROW_NUMBER() OVER (ORDER BY born) FROM pupil GROUP BY born;
WITH d(a, b) AS (SELECT house, SUM(points) FROM pupil GROUP BY house) SELECT a, LAG(b) OVER (ORDER BY a) FROM d;
SELECT id, SUM(p) OVER (ORDER BY id ROWS 1 PRECEDING) FROM (SELECT id, points AS p FROM pupil WHERE points > 0);
SELECT DISTINCT house, ROW_NUMBER() OVER (ORDER BY house) FROM (SELECT DISTINCT house FROM pupil);
SELECT name, SUM(points) OVER (ORDER BY name, points ROWS 1 PRECEDING) FROM (SELECT name, points FROM pupil UNION SELECT title, credits FROM subject);
SELECT s.code, p.id, SUM(p.points) OVER (ORDER BY p.id, s.code ROWS 1 PRECEDING) FROM pupil p JOIN subject s ON s.credits < p.points;

-- windows that inherit
SELECT id, SUM(points) OVER w2 FROM pupil WINDOW w AS (PARTITION BY house), w2 AS (w ORDER BY id);
SELECT id, SUM(points) OVER w3, COUNT(*) OVER (w2 ROWS 2 PRECEDING) FROM pupil WINDOW w AS (PARTITION BY house), w2 AS (w ORDER BY id), w3 AS (w2 ROWS 1 PRECEDING);
SELECT id, RANK() OVER W2, CUME_DIST() OVER (w2) FROM pupil WINDOW w1 AS (PARTITION BY house), W2 AS (W1 ORDER BY points DESC);
SELECT id, SUM(points) OVER w2 FROM pupil WINDOW w AS (PARTITION BY house), w2 AS (w ORDER BY id), w AS (ORDER BY born);
SELECT id, SUM(points) OVER (w ORDER BY id rows between 1 following and 2 following) FROM pupil WHERE id = 1 WINDOW w AS (PARTITION BY house);

-- the first row of a subquery
SELECT (SELECT points FROM pupil GROUP BY points), (SELECT DISTINCT house FROM pupil), (SELECT weight FROM mark);
SELECT id FROM pupil WHERE points = (SELECT s.credits FROM mark m JOIN subject s ON m.code = s.code) ORDER BY id;
SELECT id, (SELECT m.score FROM mark m WHERE m.pupil = p.id) FROM pupil p ORDER BY id;
SELECT id, (SELECT name FROM pupil q WHERE q.id = p.mentor), (SELECT MAX(score) FROM mark) FROM pupil p ORDER BY id;
SELECT (SELECT code FROM subject WHERE code > 'M'), (SELECT founded FROM house WHERE code >= 'N');
SELECT (SELECT 3 UNION SELECT 1 UNION SELECT 2), (SELECT 3 UNION ALL SELECT 1), (VALUES (4), (2));
SELECT (SELECT mentor FROM pupil UNION SELECT founded FROM house), (SELECT points FROM pupil WHERE points > 0 EXCEPT SELECT 3), (SELECT points FROM pupil INTERSECT SELECT credits FROM subject WHERE credits > 0);
SELECT (SELECT score FROM mark ORDER BY weight), (SELECT DISTINCT code FROM mark ORDER BY code DESC);
SELECT house FROM pupil WHERE points > (SELECT n FROM (SELECT house, COUNT(*) AS n FROM pupil GROUP BY house)) ORDER BY id;
SELECT (SELECT DISTINCT nick FROM pupil), (SELECT name FROM pupil ORDER BY id DESC);

-- rows that are cut off
SELECT DISTINCT points FROM pupil LIMIT 1;
SELECT DISTINCT points FROM pupil ORDER BY points LIMIT 2;
SELECT points FROM pupil UNION SELECT credits FROM subject LIMIT 3;
SELECT points, name FROM pupil UNION SELECT credits, title FROM subject ORDER BY 1 DESC LIMIT 4;
SELECT house, COUNT(*) FROM pupil GROUP BY house ORDER BY COUNT(*) DESC LIMIT 2;
SELECT points FROM pupil ORDER BY points LIMIT 3;
SELECT a.name FROM pupil a JOIN mark m ON m.pupil = a.id ORDER BY m.score LIMIT 3;
WITH c AS (SELECT house, COUNT(*) AS n FROM pupil GROUP BY house) SELECT house FROM c ORDER BY n DESC LIMIT 2;
SELECT name FROM (SELECT id, name, points FROM pupil) ORDER BY points DESC, id LIMIT 3;
WITH t AS (SELECT 1 AS x UNION SELECT 2 UNION SELECT 0 LIMIT 2) SELECT x FROM t ORDER BY x;
SELECT name FROM pupil WHERE id IN (SELECT mentor FROM pupil ORDER BY points DESC LIMIT 4) ORDER BY id;

-- a subquery in parentheses of its own
SELECT id FROM pupil WHERE id IN ((SELECT mentor FROM pupil)) ORDER BY id;
SELECT id FROM pupil WHERE id IN ((SELECT mentor FROM pupil WHERE id > 1)) ORDER BY id;
SELECT 5 NOT IN ((SELECT 1 WHERE 0)), 1 IN ((VALUES (2), (1))), 1 IN (((SELECT 1)));
SELECT id FROM pupil WHERE house IN ((SELECT house FROM pupil WHERE id = 4)) ORDER BY id;
SELECT id IN ((SELECT 3), 4), height IN ((SELECT 2)) FROM pupil ORDER BY id;

-- names of common table expressions
WITH x1 AS (SELECT 10 AS a), x2 AS (SELECT * FROM x1), x3 AS (WITH x1 AS (SELECT 11 AS a) SELECT * FROM x2) SELECT * FROM x3;
WITH a AS (SELECT id FROM pupil), b AS (SELECT * FROM (WITH pupil AS (SELECT 99 AS id) SELECT a.id FROM a)) SELECT * FROM b ORDER BY id;
WITH a AS (SELECT * FROM subject), subject AS (SELECT 99 AS id) SELECT * FROM a;
WITH x3 AS (WITH x3 AS (SELECT 1 AS a) SELECT * FROM x3) SELECT * FROM x3;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3), m AS (WITH RECURSIVE n(i) AS (SELECT 7 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n) SELECT n.i, m.i FROM n, m ORDER BY 1, 2;
WITH x2 AS (WITH subject AS (SELECT * FROM house) SELECT * FROM main.subject) SELECT * FROM x2 ORDER BY code;
WITH pupil AS (SELECT id FROM main.pupil WHERE id < 3) SELECT p.id, q.name FROM pupil p, main.pupil q ORDER BY 1, q.id;
SELECT a.z, b.z FROM (WITH q AS (SELECT 1 AS z) SELECT * FROM q) a, (WITH q AS (SELECT 2 AS z) SELECT * FROM q) b;
WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT (WITH a AS (SELECT 5 AS x) SELECT b.x FROM b, a), (SELECT x FROM a);

-- aliases under unary plus
SELECT id, -points AS points FROM pupil WHERE points > 0 ORDER BY +points, id;
SELECT id, -points AS points FROM pupil WHERE points > 0 ORDER BY points, id;
SELECT id, -points AS points FROM pupil WHERE points > 0 ORDER BY (points), id;
SELECT id, -points AS points FROM pupil WHERE points > 0 ORDER BY +(points) COLLATE BINARY DESC, id;
SELECT id, -points AS p FROM pupil WHERE points > 0 ORDER BY +p, +1 DESC;

-- COLLATE below operators
SELECT ('Hello' COLLATE NOCASE || '') = 'hello', upper('a' COLLATE NOCASE) = 'a', (SELECT 'a' COLLATE NOCASE) = 'A';
SELECT id, CASE WHEN 1 THEN name COLLATE NOCASE END = 'ANN', substr(name COLLATE NOCASE, 1) = 'bob' FROM pupil ORDER BY id;
SELECT COUNT(*) FROM pupil GROUP BY (name COLLATE NOCASE) || '' ORDER BY 1;
SELECT id, name FROM pupil ORDER BY (name COLLATE NOCASE) || '', id;
SELECT id FROM pupil WHERE coalesce(name COLLATE NOCASE, 'x') IN ('BOB', 'Cy') ORDER BY id;
SELECT COUNT(*) FROM (SELECT (name COLLATE NOCASE) || '' AS x FROM pupil) WHERE x = 'ann';
SELECT 2 IS TRUE COLLATE NOCASE, 0 IS NOT FALSE COLLATE NOCASE, 2 IS (TRUE);

-- DISTINCT in recursions
WITH s(x) AS (VALUES (1), (1) UNION ALL SELECT DISTINCT x + 1 FROM s WHERE x < 3) SELECT x FROM s ORDER BY x;
WITH s(x) AS (VALUES (1), (1) UNION SELECT DISTINCT x + 1 FROM s WHERE x < 3) SELECT x FROM s ORDER BY x;

-- whole numbers under CAST AS NUMERIC
SELECT typeof(CAST('2251799813685248.0' AS NUMERIC)), typeof(CAST('2251799813685247.0' AS NUMERIC)), typeof(CAST('-2251799813685248.0' AS NUMERIC)), typeof(CAST('2251799813685248' AS NUMERIC));

-- IS between large integers and fractions
SELECT id, 9007199254740993 * id IS height, height IS NOT id * 4611686018427387, id * 4611686018427387 IS NULL FROM pupil ORDER BY id;
SELECT m.pupil, m.weight IS 9007199254740993, p.id * 9007199254740993 IS m.weight FROM mark m LEFT JOIN pupil p ON p.id = m.pupil AND p.points > 0 ORDER BY 1, 2, 3;

-- names of types in CAST
SELECT CAST('12abc' AS UNSIGNED BIG INT), CAST('7.9' AS BIG INT), CAST(3.9 AS INT8), CAST('1.5' AS FLOATING POINT), CAST(1 AS DOUBLE PRECISION);
SELECT typeof(CAST('7' AS STRING)), typeof(CAST('7.0' AS LONG)), typeof(CAST(7 AS NATIVE CHARACTER(70))), typeof(CAST('7' AS DECIMAL(10, 5))), typeof(CAST('7' AS VARYING CHARACTER(255)));
SELECT id, CAST(name AS STRING), CAST(points AS "CHARACTER VARYING"(20)), CAST(born AS DATE) FROM pupil ORDER BY id;

-- LIMIT that is computed
SELECT id FROM pupil ORDER BY id LIMIT 10 / 3;
SELECT id FROM pupil ORDER BY id LIMIT -7 / 2 OFFSET 9 / 4;
SELECT id, MIN(points) OVER () FROM pupil ORDER BY 2, 1 LIMIT (SELECT 2);
SELECT id FROM pupil ORDER BY ROW_NUMBER() OVER (ORDER BY points, id) DESC, id LIMIT (SELECT 3) OFFSET (SELECT 1);

-- subqueries in ON of outer joins
SELECT p.id, s.code FROM pupil p LEFT JOIN subject s ON p.mentor IN (SELECT pupil FROM mark) ORDER BY 1, 2;
SELECT p.id, s.code FROM pupil p LEFT JOIN subject s ON EXISTS (SELECT 1 FROM mark m WHERE m.pupil = p.id) WHERE p.points > 0 ORDER BY 1, 2;
SELECT p.id, s.code FROM pupil p LEFT JOIN subject s ON s.credits > 2 AND EXISTS (SELECT 1 FROM mark m WHERE m.pupil = p.id) ORDER BY 1, 2;
SELECT p.id, s.code FROM pupil p LEFT JOIN subject s ON NOT EXISTS (SELECT 1 FROM mark m WHERE m.pupil = p.id) OR p.id NOT IN (SELECT mentor FROM pupil) ORDER BY 1, 2;
SELECT p.id, s.code FROM subject s RIGHT JOIN pupil p ON p.id IN (SELECT pupil FROM mark) ORDER BY 1, 2;
SELECT p.id, s.code FROM subject s FULL JOIN pupil p ON p.id IN (SELECT pupil FROM mark) AND s.credits > 2 ORDER BY 1, 2;

-- texts that are no numbers, joined to numbers in a subquery
SELECT id FROM pupil WHERE NOT (SELECT '' FROM mark m RIGHT JOIN extreme e ON m.code == e.n) ORDER BY id;
SELECT id FROM pupil WHERE (SELECT '7' FROM pupil p RIGHT JOIN subject s ON p.locker = s.credits) ORDER BY id;
SELECT id, (SELECT 'x' FROM pupil p LEFT JOIN subject s ON p.locker == s.credits) FROM pupil ORDER BY id;

-- groups in windows
SELECT house, MAX(house) OVER (ORDER BY house), SUM(COUNT(*)) OVER (ORDER BY house) FROM pupil GROUP BY house ORDER BY house;
SELECT house, MIN(title) OVER (ORDER BY house) FROM pupil JOIN house ON code = house GROUP BY house ORDER BY house;

-- row values
SELECT (SELECT p.name, 1) = (p.nick, 1), (p.nick, 1) = (SELECT p.name, 1), (p.name, 1) = (SELECT p.nick, 1), (SELECT p.nick, 1) = (p.name, 1), (SELECT p.name) = p.nick, (SELECT p.name || '', 1) = (p.nick, 1), (SELECT +p.name, 1) >= (p.nick, 1) FROM pupil p;
SELECT id FROM pupil WHERE (VALUES (house, points)) IN (SELECT house, MAX(points) FROM pupil GROUP BY house) ORDER BY id;

-- a text behind a text
SELECT 'a' 'b', 'c' AS 'd' FROM house;

-- a comparison that is known as a divisor
SELECT (3 / (1 = 'a')) << 0, (points / (1 < 'a')) << 1 FROM pupil ORDER BY id;

-- windows over one row of a subquery
SELECT c % SUM(c) OVER (), c / COUNT(*) OVER (), 7.0 / SUM(c) OVER (ORDER BY c), NULLIF(SUM(c) OVER (), 0), ABS(SUM(c) OVER ()) FROM (SELECT points AS c FROM pupil ORDER BY id LIMIT 1) v;
SELECT column1 % SUM(column1) OVER () FROM (VALUES (10));

-- constants of a subquery that an outer join makes NULL
SELECT p.id, d.flag FROM pupil p LEFT JOIN (SELECT id AS k, -1 AS flag FROM pupil WHERE id < 3) d ON d.k = p.id WHERE d.flag = -1 ORDER BY 1;
SELECT p.id FROM pupil p LEFT JOIN (SELECT code, 'a' || 'b' AS tag FROM subject) d ON d.code = p.house WHERE d.tag IS NULL ORDER BY 1;
WITH d AS (SELECT id AS k, 1 + 1 AS flag FROM pupil WHERE id < 3) SELECT p.id FROM pupil p LEFT JOIN d ON d.k = p.id WHERE d.flag > 1 OR p.id = 9 ORDER BY 1;
SELECT p.id FROM (SELECT code, COALESCE(1, 2) AS one FROM house WHERE rooms > 2) h RIGHT JOIN pupil p ON h.code = p.house WHERE h.one <> 0 ORDER BY 1;

-- conditions as keys of groups
SELECT points > 3 AS many, COUNT(*) FROM pupil GROUP BY many;
SELECT points > 3, COUNT(*) FROM pupil GROUP BY 1 ORDER BY 1;
SELECT name IS NULL AS k, COUNT(*) FROM pupil GROUP BY k HAVING name IS NULL;
SELECT points IN (3, 7) AS k, COUNT(*) FROM pupil GROUP BY k;
SELECT name LIKE 'a%' AS k, COUNT(*) FROM pupil GROUP BY k;
SELECT points BETWEEN 1 AND 7 AS k, COUNT(*) FROM pupil GROUP BY k;
SELECT NOT (points > 3) AS k, COUNT(*) FROM pupil GROUP BY k HAVING NOT (points > 3);
SELECT points > 3 AND height > 1.5 AS k, COUNT(*) FROM pupil GROUP BY k;
SELECT CASE WHEN points > 3 THEN 'many' ELSE 'few' END, (points > 3) + 1, COUNT(*) FROM pupil GROUP BY points > 3;

-- lists over sorted subqueries
SELECT group_concat(name) FROM (SELECT name FROM pupil WHERE id < 5 ORDER BY points);
SELECT house, json_group_array(name) FROM (SELECT * FROM pupil WHERE id < 5 ORDER BY born) GROUP BY house;
