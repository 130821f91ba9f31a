-- windows
SELECT SUM(id) OVER (w2) FROM pupil WINDOW w AS (PARTITION BY house);

-- texts that a collation compares
SELECT nick FROM pupil UNION SELECT name FROM pupil EXCEPT SELECT 'ann';
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
SELECT GLOB, id FROM pupil;

-- texts that may be JSON
SELECT json_array(j) FROM (SELECT json_array(id) AS j FROM pupil);
WITH d AS (SELECT json_object('a', id) AS j FROM pupil) SELECT json_group_array(j) FROM d;
SELECT json_array(CASE WHEN points > 2 THEN json_array(id) ELSE name END) FROM pupil;
SELECT json_array((SELECT json_group_array(score) FROM mark)) FROM pupil;
SELECT json_array(x) FROM (SELECT json_extract('{"a": [1]}', '$.a') AS x, id FROM pupil);
SELECT json_array(id) AS j FROM pupil ORDER BY json_array(j);
SELECT json_array(json_array(id)) FROM pupil GROUP BY json_array(id);
SELECT json_group_array(DISTINCT height) FROM pupil;
SELECT json_object(NULL, id), json_object(points, id) FROM pupil;
SELECT json_set('{}', '$.a', CASE WHEN points > 2 THEN json_array(id) ELSE name END) FROM pupil;

-- paths in JSON
SELECT json_set(name, '$', id) FROM pupil;
SELECT json_set(name, '$.' || house, id) FROM pupil;
SELECT json_set(name, '$.a', json_object('b', id), '$.a.b', 2) FROM pupil;
SELECT json_set(name, '$[#]', id, '$[0]', 2) FROM pupil;
SELECT json_patch(name, json_object('b', id)) FROM pupil;

-- texts read as numbers
SELECT SUM(DISTINCT locker) FROM pupil;
SELECT AVG(DISTINCT v) FROM loose;

-- rows of JSON
SELECT id FROM json_each('{"a":[1]}', '$.a');
SELECT key FROM json_tree('[[1]]', '$[0]');
SELECT (SELECT SUM(value) FROM json_each('[' || id || ']')) FROM pupil;
SELECT p.id FROM pupil p RIGHT JOIN json_each('[' || p.id || ']') e ON 1;
SELECT p.id, value FROM pupil p, json_each('[1]', '$[' || p.id || ']');

-- shared columns of parentheses with a name
SELECT * FROM (pupil LEFT JOIN mark ON id = pupil JOIN subject USING (code)) AS q;

-- the FILTER of an aggregate that names a SELECT around it alone
SELECT (SELECT COUNT(*) FILTER (WHERE p.points) FROM mark) FROM pupil p;
SELECT (SELECT s FROM (SELECT SUM(p.points) AS s)) FROM pupil p;

-- values that a server has not
SELECT id FROM hidden WHERE x = 1.5;
SELECT x FROM hidden ORDER BY x;
SELECT t || 'x' FROM hidden;
SELECT id FROM hidden WHERE t = 'a' COLLATE NOCASE;
SELECT MAX(x) FROM hidden;
SELECT x + 1 FROM hidden;
SELECT DISTINCT v FROM hidden;
SELECT t FROM hidden UNION SELECT name FROM pupil;

-- blobs that are no texts
SELECT UPPER(b) FROM motley;
SELECT id FROM motley WHERE v LIKE '1%';
SELECT SUBSTR(b, -1) FROM motley;
SELECT INSTR(v, '1') FROM motley;

-- random numbers
SELECT CASE random() WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, MAX(random(), 5) FROM pupil;

-- over- and underflow
SELECT 5e-324 * height FROM pupil;
SELECT height / 5e-324 FROM pupil;
SELECT SUM(x) * 1e300 * 1e300 FROM extreme;
SELECT 9e999, round(9e999, 2);
SELECT id FROM pupil LIMIT '1e999';
SELECT a::text FROM pupil;
SELECT x.* FROM house h JOIN (pupil x JOIN nobody y USING (id)) ON h.founded = x.id FULL JOIN mark USING (id);

-- numbers of JSON's nodes
SELECT e.id FROM pupil p, json_each('{"a":[1,2]}', '$.a') e;
SELECT COUNT(e.id), MAX(e.parent) FROM json_each('{"a":[1,2]}', '$.a') e;
SELECT e.value FROM json_each('{"a":[1,2]}', '$.a') e WHERE e.id = 3;
