-- windows over tied rows
SELECT id, SUM(points) OVER (ORDER BY born ROWS UNBOUNDED PRECEDING) FROM pupil;
SELECT id, AVG(points) OVER (ORDER BY born ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) FROM pupil;
SELECT id, TOTAL(points) OVER (PARTITION BY house ORDER BY born ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM pupil;
SELECT name, COUNT(*) OVER (ORDER BY born ROWS UNBOUNDED PRECEDING) FROM pupil;
SELECT id, MIN(points) OVER w FROM pupil WINDOW v AS (ORDER BY born), w AS (v ROWS 1 PRECEDING);
SELECT SUM(points), ROW_NUMBER() OVER (ORDER BY MAX(height)) FROM pupil GROUP BY house;

-- FILTER in frames that rows leave
SELECT id, MIN(points) FILTER (WHERE id <> 2) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM pupil;
SELECT id, MAX(points) FILTER (WHERE id <> 2) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM pupil;

-- the first row of a subquery
SELECT id FROM pupil WHERE points > (SELECT x FROM (SELECT DISTINCT credits * 5 AS x FROM subject));
SELECT (SELECT points FROM pupil UNION ALL SELECT credits FROM subject);
SELECT (SELECT name FROM pupil), (SELECT q.title FROM (SELECT title FROM subject) q);

-- rows that are cut off
SELECT DISTINCT points FROM pupil LIMIT 2;
SELECT DISTINCT points, name FROM pupil ORDER BY points LIMIT 2;
SELECT points FROM pupil UNION ALL SELECT credits FROM subject LIMIT 3;
SELECT name FROM (SELECT name, points FROM pupil) ORDER BY points LIMIT 3;
SELECT name, ROW_NUMBER() OVER (ORDER BY id) FROM pupil LIMIT 2;
SELECT DISTINCT nick FROM pupil LIMIT 2;

-- lists of frames that slide
SELECT id, GROUP_CONCAT(name, '.') OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM pupil;

-- extremes of texts under NOCASE
SELECT MAX(nick), MIN(nick) FROM pupil WHERE id > 5;
SELECT house, MAX(name COLLATE NOCASE) FROM pupil GROUP BY house ORDER BY house;

-- aggregates of a SELECT around
SELECT (SELECT p.points FROM subject GROUP BY 1 HAVING p.points) FROM pupil p GROUP BY 'all';
SELECT points, (SELECT COUNT(*) FROM subject WHERE credits < MAX(p.points)) FROM pupil p;

-- a compound SELECT whose columns may be converted
SELECT v.x, s.code FROM (SELECT name AS x FROM pupil UNION ALL SELECT credits FROM subject) v JOIN subject s ON s.credits = 4;
WITH v AS MATERIALIZED (SELECT name AS x FROM pupil UNION ALL SELECT credits FROM subject) SELECT x FROM v;

-- reals that leave a frame
SELECT id, SUM(x) OVER (ORDER BY id ROWS 1 PRECEDING) FROM extreme;

-- recursions that pass 2^63
WITH RECURSIVE c(n, x) AS (SELECT 1, 1 UNION ALL SELECT n + 1, x * 3 FROM c WHERE n < 60) SELECT n, x FROM c;

-- lists over subqueries whose ties are open
SELECT group_concat(name) FROM (SELECT DISTINCT name, house FROM pupil ORDER BY house);
