-- windows
SELECT SUM(id) OVER (w2) FROM pupil WINDOW w AS (PARTITION BY house);

-- texts that a collation compares
SELECT 'abc' UNION SELECT 'ABC' COLLATE NOCASE UNION SELECT 'def';
SELECT name || '' FROM pupil UNION SELECT nick FROM pupil;
WITH s(x) AS (VALUES ('a' COLLATE NOCASE) UNION SELECT upper(x) FROM s) SELECT x FROM s;

-- recursions
WITH s(x) AS (VALUES (1) UNION ALL SELECT DISTINCT x + 1 FROM s JOIN mark ON weight = x WHERE x < 3) SELECT x FROM s;

-- infinite sums
SELECT total(x) FROM (SELECT 1e308 AS x UNION ALL SELECT 1e308 UNION ALL SELECT 0);
SELECT sum(1e308), avg(-1e308) FROM pupil;

-- what an outer join takes from outside
SELECT (SELECT 1 FROM mark LEFT JOIN (SELECT p.points AS v FROM subject) ON 500 = v WHERE v) FROM pupil p;

-- neither a number nor a name
SELECT 0xFF__FF;
