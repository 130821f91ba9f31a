-- alias
SELECT points * 2 AS twice FROM pupil WHERE twice > 10 ORDER BY twice, id;
SELECT UPPER(house) AS h, COUNT(*) AS n FROM pupil GROUP BY h HAVING n > 1 ORDER BY n + 0, h;
SELECT house AS h, SUM(points) AS s FROM pupil GROUP BY h ORDER BY s * -1, h;
SELECT a AS b, a + 1 AS c FROM (SELECT points AS a FROM pupil) WHERE c > 4 ORDER BY b, c;
SELECT p.name AS n FROM pupil p WHERE n IS NOT NULL AND LENGTH(n) > 2 ORDER BY n, id;
SELECT height AS "Top Height" FROM pupil WHERE "Top Height" > 1.5 ORDER BY "top height", id;
SELECT SUM(points) AS s FROM pupil GROUP BY house HAVING s IS NOT NULL ORDER BY s, house;

-- double-quoted-text
SELECT id FROM pupil WHERE name = "Ann" ORDER BY id;
SELECT "nowhere", "name", "Full Name", `name`, [name] FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE "name" LIKE "%n" OR house IN ("S", "E") ORDER BY id;
SELECT COUNT(*) FROM pupil WHERE "no such column" = "no such column";
SELECT id, "x" || name FROM pupil p WHERE p."name" > "B" ORDER BY "id";
SELECT STRFTIME("%Y", born) FROM pupil WHERE born > "2000-01-01" ORDER BY id;
SELECT GROUP_CONCAT(name, ", ") FROM (SELECT name FROM pupil ORDER BY id);
SELECT name AS "N" FROM pupil WHERE "N" = "Ann";

-- star
SELECT * FROM subject ORDER BY code;
SELECT p.*, s.title FROM (SELECT id, name FROM pupil) p LEFT JOIN subject s ON s.credits = p.id ORDER BY p.id, s.code;
SELECT * FROM (SELECT id, points FROM pupil) a JOIN (SELECT id, height FROM pupil) b USING (id) ORDER BY id;
SELECT * FROM mark m JOIN subject s ON m.code = s.code ORDER BY pupil, m.code, score;
SELECT COUNT(*), * FROM (SELECT 1 AS a, 2 AS b);
SELECT *, points + 1 AS more FROM (SELECT id, points FROM pupil) ORDER BY id;
WITH t AS (SELECT id, name FROM pupil WHERE id < 3) SELECT * FROM t UNION SELECT id, name FROM nobody ORDER BY 1;
SELECT a.*, b.* FROM subject a, subject b WHERE a.credits < b.credits ORDER BY a.code, b.code;

-- compound-precedence
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2 UNION SELECT 3 ORDER BY 1;
SELECT id FROM pupil EXCEPT SELECT pupil FROM mark UNION ALL SELECT id FROM pupil INTERSECT SELECT mentor FROM pupil ORDER BY 1;
SELECT code FROM subject UNION ALL SELECT code FROM house EXCEPT SELECT 'N' ORDER BY 1;
SELECT 1 UNION ALL SELECT 1 INTERSECT SELECT 1 EXCEPT SELECT 2;

-- compound-types
SELECT points FROM pupil UNION SELECT height FROM pupil ORDER BY 1;
SELECT id, points FROM pupil UNION ALL SELECT NULL, 0.5 ORDER BY 1, 2;
SELECT 1 INTERSECT SELECT 1.0;
SELECT points FROM pupil EXCEPT SELECT 3.0 ORDER BY 1;
SELECT id FROM pupil WHERE id IN (SELECT 1 UNION SELECT 2.0 UNION SELECT 7) ORDER BY id;

-- compound-order
SELECT points FROM pupil UNION SELECT mentor FROM pupil ORDER BY 1 DESC NULLS FIRST;
SELECT points FROM pupil UNION SELECT mentor FROM pupil ORDER BY 1 NULLS LAST LIMIT 3;
SELECT id AS a, name AS b FROM pupil UNION ALL SELECT credits, title FROM subject ORDER BY b, a;
SELECT name AS n FROM pupil UNION SELECT title FROM subject ORDER BY title DESC;
SELECT id, points FROM pupil WHERE id < 4 UNION ALL SELECT id, mentor FROM pupil WHERE id > 7 ORDER BY points DESC, id LIMIT 3;
SELECT points FROM pupil UNION SELECT weight FROM mark ORDER BY points DESC LIMIT 2 OFFSET 1;
SELECT name FROM pupil UNION SELECT title FROM subject ORDER BY 1 COLLATE NOCASE, 1;
SELECT LOWER(name) AS n, id FROM pupil UNION ALL SELECT UPPER(title), credits FROM subject ORDER BY n COLLATE NOCASE DESC, 2 LIMIT 4;
SELECT nick, id FROM pupil UNION ALL SELECT title, credits FROM subject ORDER BY nick NULLS LAST, id;
SELECT 'any' AS n, 0 AS i UNION ALL SELECT nick, id FROM pupil ORDER BY n, i DESC;

-- recursive-query
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i, i * i FROM n ORDER BY i;
WITH RECURSIVE up(id, name, depth) AS (SELECT id, name, 0 FROM pupil WHERE id = 6 UNION ALL SELECT p.id, p.name, depth + 1 FROM pupil p JOIN up ON p.id = (SELECT mentor FROM pupil q WHERE q.id = up.id)) SELECT * FROM up ORDER BY depth;
WITH n(i) AS (SELECT 1 UNION SELECT (i * 2) % 7 FROM n) SELECT i FROM n ORDER BY i;
WITH RECURSIVE path(id, p) AS (SELECT id, name FROM pupil WHERE mentor IS NULL UNION ALL SELECT c.id, p || '>' || c.name FROM pupil c, path WHERE c.mentor = path.id) SELECT p FROM path WHERE p IS NOT NULL ORDER BY p;
WITH RECURSIVE d(day) AS (SELECT '2020-02-27' UNION ALL SELECT DATE(day, '+1 day') FROM d WHERE day < '2020-03-02') SELECT day, COUNT(code) FROM d LEFT JOIN mark USING (day) GROUP BY day ORDER BY day;
WITH RECURSIVE fib(a, b) AS (VALUES (0, 1) UNION ALL SELECT b, a + b FROM fib WHERE b < 100) SELECT a FROM fib ORDER BY a;
WITH RECURSIVE h(x) AS (SELECT 100.0 UNION ALL SELECT x / 2 FROM h WHERE x > 1) SELECT COUNT(*), MIN(x) FROM h;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT SUM(i) FROM n;

-- rowid
SELECT rowid, code, score FROM mark ORDER BY rowid DESC;
SELECT MIN(rowid), MAX(rowid), SUM(rowid) FROM mark;
SELECT m._rowid_, s.oid FROM mark m LEFT JOIN subject s ON s.code = m.code AND s.rowid < 4 ORDER BY m.rowid;
SELECT code FROM mark WHERE rowid IN (SELECT MIN(rowid) FROM mark GROUP BY pupil) ORDER BY rowid;
SELECT a.rowid, b.rowid FROM mark a JOIN mark b ON a.code = b.code AND a.rowid < b.rowid ORDER BY 1, 2;
SELECT MAX(rowid), COUNT(*) FROM mark WHERE rowid > '2' AND rowid < 9.5;
SELECT rowid, title FROM subject LIMIT 2;
SELECT rowid, ROW_NUMBER() OVER (ORDER BY rowid) AS n FROM house WHERE rowid <> 2 ORDER BY n;
SELECT (SELECT code FROM subject WHERE rowid = 2), (SELECT code FROM house WHERE rowid = 99);

-- computed-limit
SELECT id FROM pupil ORDER BY id LIMIT (SELECT 2);
SELECT AVG(points) FROM (SELECT points FROM pupil WHERE points IS NOT NULL ORDER BY points LIMIT 2 - (SELECT COUNT(points) FROM pupil) % 2 OFFSET (SELECT (COUNT(points) - 1) / 2 FROM pupil));
SELECT name, points * 2 AS twice FROM pupil ORDER BY twice DESC, 1, id LIMIT 2 OFFSET (SELECT COUNT(*) FROM pupil) / 2;
SELECT house, COUNT(*) AS n FROM pupil GROUP BY house ORDER BY n DESC, house LIMIT (SELECT COUNT(*) FROM nobody) + 2;
SELECT id FROM pupil ORDER BY id LIMIT (SELECT 3) - 9;
SELECT id FROM pupil ORDER BY id LIMIT (SELECT 1) - 1, (SELECT 4);
WITH t AS (SELECT id FROM pupil WHERE id < 4) SELECT id, (SELECT h.code FROM house h ORDER BY h.code LIMIT (SELECT COUNT(*) FROM t)) FROM t ORDER BY id LIMIT (SELECT COUNT(*) - 1 FROM t);
SELECT COUNT(*) FROM (SELECT id FROM pupil LIMIT (SELECT COUNT(*) FROM nobody));
SELECT (SELECT code FROM house LIMIT (SELECT COUNT(*) FROM nobody));
SELECT house, MAX(id), name FROM pupil GROUP BY house ORDER BY house LIMIT (SELECT 3);
SELECT id FROM pupil ORDER BY id LIMIT (SELECT MIN(points) + 7 FROM pupil) OFFSET (SELECT 2);

-- catalogue
SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name;
SELECT name FROM sqlite_schema AS s WHERE type = 'table' AND EXISTS (SELECT 1 FROM main.sqlite_master WHERE tbl_name = s.name AND type = 'index') ORDER BY 1;
SELECT count(*), max(length(sql)), sum(sql IS NULL) FROM sqlite_master WHERE name LIKE 'p%';

-- view
SELECT * FROM scored ORDER BY id;
SELECT who, points + 1 FROM main.scored AS s WHERE s.id > 3 ORDER BY s.id;
SELECT code, mean, "as" FROM average WHERE code IS NOT NULL ORDER BY code;
SELECT id, who, points, code FROM ranked ORDER BY id, code;
SELECT "id:1", COUNT(*) FROM twice GROUP BY "id:1" ORDER BY 1;
SELECT a.who, b.who FROM scored a JOIN scored b ON a.points < b.points ORDER BY a.id, b.id;
SELECT id FROM pupil WHERE id IN (SELECT id FROM scored) AND EXISTS (SELECT 1 FROM average WHERE mean > height) ORDER BY id;
WITH scored AS (SELECT 1 AS id) SELECT s.id, t.id FROM scored s, twice t WHERE t.id < 4 ORDER BY t.id;

-- recursion-limit
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 10) SELECT x FROM c;
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c LIMIT 10 OFFSET 3) SELECT a.x, b.x FROM c a JOIN c b ON a.x = b.x + 1;
WITH c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c LIMIT 0) SELECT COUNT(*), SUM(x) FROM c;
WITH c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 5 LIMIT -1 OFFSET 2) SELECT x FROM c;
WITH RECURSIVE fib(a, b) AS (VALUES (0, 1) UNION ALL SELECT b, a + b FROM fib LIMIT 30) SELECT a FROM fib ORDER BY a DESC;
WITH RECURSIVE d(day) AS (SELECT '2020-02-25' UNION ALL SELECT DATE(day, '+1 day') FROM d LIMIT 7) SELECT day, COUNT(code) FROM d LEFT JOIN mark USING (day) GROUP BY day ORDER BY day;
SELECT id, (WITH c(x) AS (SELECT id UNION ALL SELECT x + 1 FROM c LIMIT 3) SELECT SUM(x) FROM c) AS s FROM pupil ORDER BY id;
WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i) SELECT x FROM i LIMIT 20;
WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT (x + 1) % 4 FROM c LIMIT 10) SELECT COUNT(*), SUM(x) FROM c;
WITH RECURSIVE c(x) AS (SELECT 8 UNION SELECT x - 1 FROM c LIMIT 3 OFFSET 2) SELECT x FROM c ORDER BY x;
WITH RECURSIVE c(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, s || 'b' FROM c WHERE n < 100 OR s = 'x' LIMIT 6) SELECT n, s FROM c ORDER BY n;
WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i) SELECT x * 2 FROM i LIMIT 5 OFFSET 3;
SELECT COUNT(*) FROM (WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i) SELECT x FROM i LIMIT 4);
WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM i LIMIT 10 OFFSET 1) SELECT x, (SELECT COUNT(*) FROM pupil WHERE id < x) FROM i;

-- bare-column
SELECT p.id, p.name, p.points, COUNT(m.code) FROM pupil p LEFT JOIN mark m ON m.pupil = p.id GROUP BY p.id ORDER BY p.id;
SELECT h.title, h.founded, COUNT(*) FROM pupil p JOIN house h ON p.house = h.code GROUP BY h.code ORDER BY h.code;
SELECT T2.title, AVG(T1.score) FROM mark AS T1 JOIN subject AS T2 ON T1.code = T2.code GROUP BY T1.code ORDER BY AVG(T1.score) DESC, T1.code;
SELECT name FROM pupil WHERE id = 4 GROUP BY points;
SELECT p.name FROM pupil p JOIN mark m ON p.id = m.pupil GROUP BY m.pupil HAVING COUNT(*) > 1 ORDER BY p.name;
SELECT name, points, COUNT(*) FROM pupil WHERE id = 1;
SELECT h.title || '!' AS t, SUM(points) FROM house h, pupil p WHERE h.code = p.house GROUP BY p.house ORDER BY t;
SELECT name FROM pupil GROUP BY id HAVING points > 5 ORDER BY height DESC, id;

-- bare-column-of-extreme
SELECT name, MAX(height) FROM pupil WHERE height < 1.75;
SELECT house, name, MAX(id) FROM pupil GROUP BY house ORDER BY house;
SELECT name, MIN(born) FROM pupil;
SELECT house, MIN(id), name, height, points * 2 FROM pupil GROUP BY house HAVING COUNT(*) > 1 ORDER BY house;
SELECT p.name, s.title, MAX(m.score) FROM mark m JOIN pupil p ON p.id = m.pupil JOIN subject s ON s.code = m.code;
SELECT name || '', MAX(points) + 1 FROM pupil WHERE points < 10 AND points <> 7 AND id <> 9;
SELECT MAX(joined), name, (SELECT title FROM house WHERE code = house) FROM pupil;
SELECT name FROM pupil GROUP BY house HAVING MAX(id) > 4 ORDER BY house;
SELECT house, name FROM pupil GROUP BY house ORDER BY MAX(id);
SELECT nick BETWEEN 'ANNIE' AND 'Cy', nick IN ('ZED', 'Bob'), CASE nick WHEN 'ZED' THEN 1 WHEN 'ANNIE' THEN 2 END, MAX(joined) FROM pupil WHERE id < 8;

-- bare-column-of-any-row
SELECT house, name, COUNT(*) FROM pupil WHERE id IN (1, 3, 4, 6) GROUP BY house ORDER BY house;
SELECT born, height, COUNT(*) FROM pupil WHERE born = '2001-02-28' GROUP BY born;
SELECT house, LENGTH(born) FROM pupil WHERE born IS NOT NULL GROUP BY house ORDER BY house;

-- constant-group
SELECT COUNT(*) FROM pupil GROUP BY 'all';
SELECT COUNT(*) FROM nobody GROUP BY 1 + 1;
SELECT COUNT(*), SUM(points) FROM nobody GROUP BY NULL;
SELECT SUM(points) FROM pupil GROUP BY 'x' HAVING COUNT(*) > 100;
SELECT 'x' AS k, COUNT(*) FROM pupil GROUP BY k;

-- join-order
SELECT COUNT(*) FROM pupil, subject;
SELECT p.id, s.code FROM pupil p, house h JOIN subject s ON s.credits = p.points WHERE h.code = p.house ORDER BY 1, 2;
SELECT p.id, m.code FROM pupil p CROSS JOIN mark m WHERE p.id = m.pupil ORDER BY 1, 2;
SELECT p.id FROM pupil p JOIN mark m ON h.code = p.house JOIN house h ON m.pupil = p.id ORDER BY p.id;
SELECT COUNT(*) FROM pupil p, mark m LEFT JOIN subject s ON s.code = m.code AND p.id = m.pupil;

-- shared-columns
SELECT code, title, score FROM mark JOIN subject USING (code) ORDER BY code, score, pupil;
SELECT code, pupil, title FROM mark NATURAL JOIN subject ORDER BY code, pupil;
SELECT code, m.code, s.code, score FROM mark m LEFT JOIN subject s USING (code) ORDER BY pupil, code, score;
SELECT code, title, score FROM mark RIGHT JOIN subject USING (code) ORDER BY code, score, pupil;
SELECT code, COUNT(pupil) FROM subject LEFT JOIN mark USING (code) GROUP BY code ORDER BY code;
SELECT id, COUNT(*) FROM pupil JOIN extreme USING (id) JOIN nobody USING (id);
SELECT COUNT(*) FROM pupil a NATURAL JOIN pupil b;
SELECT name FROM pupil NATURAL LEFT JOIN nobody ORDER BY id;
SELECT id FROM pupil a JOIN pupil b USING (id, points) WHERE id > 2 ORDER BY id;
SELECT COUNT(*) FROM house NATURAL JOIN subject;
SELECT code FROM house JOIN subject USING (code) UNION SELECT code FROM mark JOIN house USING (code) ORDER BY code;

-- full-join
SELECT m.pupil, m.code, s.code, s.title FROM mark m FULL JOIN subject s ON m.code = s.code ORDER BY 1, 2, 3, m.score;
SELECT code, score, title FROM mark FULL OUTER JOIN subject USING (code) ORDER BY code, score, pupil;
SELECT COUNT(*), COUNT(a.id), COUNT(b.id) FROM pupil a FULL JOIN pupil b ON a.id = b.mentor;
SELECT h.code, COUNT(p.id) FROM pupil p FULL JOIN house h ON p.house = h.code GROUP BY h.code ORDER BY h.code;
SELECT p.id, h.code FROM pupil p FULL JOIN house h ON p.house = h.code WHERE p.id IS NULL OR h.code IS NULL ORDER BY p.id, h.code;
SELECT a.id, b.id FROM nobody a FULL JOIN pupil b ON a.id = b.id ORDER BY b.id;
SELECT m.pupil, s.code, h.code FROM mark m FULL JOIN subject s ON m.code = s.code FULL JOIN house h ON h.rooms = m.pupil ORDER BY 1, 2, 3, m.score;
SELECT id, a.name, b.name, c.points FROM pupil a FULL JOIN nobody b USING (id) FULL JOIN pupil c USING (id) ORDER BY id;
SELECT h.code, COUNT(*), COUNT(c.id) FROM pupil p FULL JOIN house h ON p.house = h.code LEFT JOIN mark m ON m.pupil = p.id FULL JOIN pupil c ON c.mentor = m.weight GROUP BY h.code ORDER BY 1;
SELECT p.id, s.code, m.score FROM pupil p LEFT JOIN (subject s FULL JOIN mark m ON m.code = s.code AND m.weight > 1) ON m.pupil = p.id AND s.credits > 0 ORDER BY 1, 2, 3;
SELECT id, code, COUNT(*), SUM(m.score) FROM pupil p FULL JOIN (mark m FULL JOIN (subject s FULL JOIN house h USING (code)) USING (code)) ON p.house = code GROUP BY id, code ORDER BY 1, 2;
SELECT p.id, (SELECT COUNT(*) FROM subject x WHERE x.code = s.code) AS n FROM pupil p JOIN (subject s FULL JOIN mark m USING (code)) ON m.pupil = p.id WHERE s.code IS NULL OR p.id < 3 ORDER BY 1, 2;
SELECT p.id, h.code FROM pupil p, (house h FULL JOIN nobody n ON n.points = h.rooms) WHERE p.id = h.rooms ORDER BY 1;

-- limit-forms
SELECT id FROM pupil ORDER BY id LIMIT -1 OFFSET 7;
SELECT id FROM pupil ORDER BY id LIMIT -1;

-- distinct-order
SELECT DISTINCT house FROM pupil WHERE house IN ('N', 'n', 'E', '10') AND id <> 2 ORDER BY points, id;
SELECT DISTINCT name FROM pupil WHERE id < 7 ORDER BY LENGTH(name), UPPER(name) DESC, id;
SELECT DISTINCT born FROM pupil ORDER BY SUBSTR(born, 6);
SELECT DISTINCT points, house FROM pupil ORDER BY points * 2 DESC, house;
SELECT DISTINCT h.title FROM house h JOIN pupil p ON p.house = h.code ORDER BY h.founded, h.title;
SELECT DISTINCT house AS h FROM pupil ORDER BY h IS NULL, h;

-- first-row
SELECT (SELECT name FROM pupil ORDER BY id DESC), (SELECT id FROM pupil ORDER BY points DESC, id);
SELECT id, (SELECT m.code FROM mark m WHERE m.pupil = p.id ORDER BY m.score, m.code) FROM pupil p ORDER BY id;
SELECT id FROM pupil WHERE points = (SELECT points FROM pupil ORDER BY points DESC) ORDER BY id;
SELECT (SELECT 1 UNION ALL SELECT 2 ORDER BY 1 DESC), (SELECT id FROM nobody);
SELECT id FROM pupil WHERE height > (SELECT height FROM pupil WHERE house = 'N' ORDER BY id) ORDER BY id;
SELECT house, SUM(points) * 1.0 / (SELECT points FROM pupil ORDER BY points DESC) FROM pupil GROUP BY house ORDER BY house;

-- empty-list
SELECT id FROM pupil WHERE points IN () ORDER BY id;
SELECT id FROM pupil WHERE points NOT IN () ORDER BY id;
SELECT NULL IN (), NULL NOT IN (), 1 IN ();

-- in-affinity
SELECT id FROM pupil WHERE points IN ('10', 7.0, 'x') ORDER BY id;
SELECT id FROM pupil WHERE points + 0 IN ('10', 3) ORDER BY id;
SELECT id FROM pupil WHERE id IN (SELECT remark FROM mark) ORDER BY id;
SELECT id FROM pupil WHERE locker IN (SELECT id FROM pupil) ORDER BY id;
SELECT id FROM pupil WHERE id IN (SELECT locker FROM pupil) ORDER BY id;
SELECT code FROM house WHERE rooms IN ('', 3) ORDER BY code;
SELECT code FROM house WHERE founded IN ('1900', 10) OR fee IN ('10.5', 2.0) ORDER BY code;
SELECT id FROM pupil WHERE SUBSTR(born, 1, 4) IN (2001, '1998') ORDER BY id;
SELECT id FROM pupil WHERE points NOT IN ('10', NULL) ORDER BY id;
SELECT id FROM pupil WHERE 0 = (name IN (SELECT founded FROM house)) ORDER BY id;
SELECT id FROM pupil WHERE 0 IN (name IN (SELECT founded FROM house), 2) ORDER BY id;
SELECT id FROM pupil WHERE 0 IN (SELECT pupil.locker IN (SELECT founded FROM house) FROM subject) ORDER BY id;
SELECT id FROM pupil WHERE locker IN (SELECT id FROM pupil WHERE points > 0) AND 0 = (locker IN (SELECT founded FROM house))
ORDER BY id;
SELECT '1' IN (1), 1 IN ('1'), 1 IN (1.0), '1' IN ('1', NULL), 2 IN (1, NULL);
SELECT (NULL, 7) IN (SELECT mentor, points FROM pupil), (NULL, -99) IN (SELECT mentor, points FROM pupil), (4, 7) NOT IN (SELECT mentor, points FROM pupil);
SELECT id FROM pupil WHERE (locker, points) IN (SELECT credits + 3, 10 FROM subject) OR (locker, id) NOT IN (SELECT id, id FROM pupil) ORDER BY id;
SELECT id, 'ANN' IN (SELECT nick FROM pupil), UPPER(nick) IN (SELECT nick FROM pupil), nick IN (SELECT UPPER(nick) COLLATE BINARY FROM pupil) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE UPPER(nick) IN (SELECT name FROM pupil UNION ALL SELECT nick FROM pupil) OR UPPER(name) IN (SELECT nick FROM pupil UNION ALL SELECT name FROM pupil) ORDER BY id;

-- found-first
SELECT name FROM pupil ORDER BY points LIMIT 4;
SELECT id FROM pupil ORDER BY height DESC LIMIT 3;
SELECT id FROM pupil LIMIT 3;
SELECT id FROM pupil WHERE points = 10 ORDER BY born LIMIT 1;
SELECT (SELECT id FROM pupil WHERE born = '2001-02-28' LIMIT 1);
SELECT score, weight FROM mark ORDER BY code DESC LIMIT 2;

-- range-frame
SELECT id, COUNT(*) OVER (ORDER BY born RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS n FROM pupil ORDER BY id;
SELECT id, SUM(points) OVER (ORDER BY nick DESC RANGE BETWEEN UNBOUNDED PRECEDING AND 3 PRECEDING) AS s FROM pupil ORDER BY id;
SELECT id, COUNT(*) OVER (ORDER BY raw RANGE BETWEEN 1 FOLLOWING AND 3 FOLLOWING) AS n FROM extreme ORDER BY id;
SELECT id, COUNT(*) OVER (ORDER BY points RANGE BETWEEN 1.5 PRECEDING AND 3 FOLLOWING) AS n FROM pupil ORDER BY id;
SELECT id, SUM(points) OVER (ORDER BY points DESC NULLS LAST RANGE BETWEEN 3.5 PRECEDING AND CURRENT ROW) AS s FROM pupil ORDER BY id;
SELECT id, COUNT(*) OVER (ORDER BY points NULLS LAST RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING) AS n FROM pupil ORDER BY id;
SELECT id, COUNT(*) OVER (ORDER BY height DESC NULLS FIRST RANGE BETWEEN CURRENT ROW AND 0.25 FOLLOWING) AS n FROM pupil ORDER BY id;

-- window-frame
SELECT id, SUM(points) OVER (ORDER BY points GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM pupil ORDER BY id;
SELECT id, COUNT(*) OVER (PARTITION BY house ORDER BY points DESC GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) FROM pupil ORDER BY id;
SELECT id, AVG(height) OVER (ORDER BY points NULLS LAST GROUPS 2 PRECEDING) FROM pupil ORDER BY id;
SELECT id, MIN(name) OVER (ORDER BY points GROUPS BETWEEN 1 PRECEDING AND 1 PRECEDING) FROM pupil ORDER BY id;
SELECT id, SUM(points) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) FROM pupil ORDER BY id;
SELECT id, SUM(points) OVER (ORDER BY points RANGE UNBOUNDED PRECEDING EXCLUDE GROUP), COUNT(*) OVER (ORDER BY points RANGE UNBOUNDED PRECEDING EXCLUDE TIES) FROM pupil ORDER BY id;
SELECT id, TOTAL(points) OVER (PARTITION BY house ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM pupil ORDER BY id;
SELECT id, MAX(points) OVER (ORDER BY id GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE NO OTHERS) FROM pupil ORDER BY id;
SELECT id, FIRST_VALUE(name) OVER (ORDER BY id ROWS 2 PRECEDING EXCLUDE CURRENT ROW), LAST_VALUE(points) OVER (ORDER BY id ROWS 2 PRECEDING EXCLUDE TIES) FROM pupil ORDER BY id;
SELECT id, NTH_VALUE(name, 2) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW) FROM pupil ORDER BY id;
SELECT id, GROUP_CONCAT(name) OVER (ORDER BY id), GROUP_CONCAT(points, '-') OVER (PARTITION BY house ORDER BY id DESC) FROM pupil ORDER BY id;
SELECT id, GROUP_CONCAT(house, '.') FILTER (WHERE points > 2) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS list FROM pupil ORDER BY list, id;
SELECT id, json_group_array(points) OVER (ORDER BY id ROWS 1 PRECEDING) FROM pupil ORDER BY id;
SELECT p.id, s.title, COUNT(*) OVER (PARTITION BY m.code ORDER BY p.id GROUPS 1 PRECEDING) FROM mark m JOIN pupil p ON p.id = m.pupil JOIN subject s USING (code) WHERE p.points > 0 ORDER BY 1, 2, 3;
SELECT id, (SELECT GROUP_CONCAT(x.id) OVER (ORDER BY x.id DESC) FROM pupil x WHERE x.id <= p.id ORDER BY x.id LIMIT 1) FROM pupil p ORDER BY id;
SELECT id, (SELECT COUNT(*) FROM mark WHERE pupil = p.id) + SUM(points) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) FROM pupil p ORDER BY id;
SELECT * FROM (SELECT house, id, SUM(points) OVER w AS s FROM pupil WINDOW w AS (PARTITION BY house ORDER BY id GROUPS 1 PRECEDING)) WHERE s > 3 ORDER BY id;
WITH w AS (SELECT id, GROUP_CONCAT(id) OVER (ORDER BY id) AS ids FROM pupil) SELECT a.ids, b.ids FROM w a JOIN w b ON a.id = b.id + 1 ORDER BY a.id;
SELECT DISTINCT COUNT(*) OVER (PARTITION BY house ORDER BY id GROUPS 1 PRECEDING) AS n FROM pupil ORDER BY n;
SELECT id, SUM(points) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING EXCLUDE CURRENT ROW) FROM pupil UNION ALL SELECT 0, 0 ORDER BY 1 LIMIT 3;
SELECT a.id, GROUP_CONCAT(b.name) OVER (ORDER BY a.id) FROM pupil a LEFT JOIN pupil b ON a.mentor = b.id ORDER BY a.id;

-- values-as-json
SELECT COALESCE(points, NULL, COALESCE(height, 'a')) AS v, id FROM pupil ORDER BY 1, 2;
SELECT CASE WHEN id > 4 THEN IFNULL(points, 'none') ELSE CASE WHEN id > 2 THEN name ELSE height END END AS v, id FROM pupil ORDER BY v DESC, id;
SELECT MIN(IIF(id > 4, IFNULL(points, 'none'), name)), MAX(IIF(id > 4, IFNULL(points, 'none'), height)) FROM pupil;
SELECT CASE WHEN points > 2 THEN points ELSE 'low' END FROM pupil;
SELECT COALESCE(height, name), IFNULL(mentor, 'none'), iif(points > 3, points, nick), max(points, name) FROM pupil;
SELECT CASE WHEN points > 2 THEN points ELSE 'low' END AS v, id FROM pupil ORDER BY v DESC, id;
SELECT DISTINCT CASE WHEN points > 2 THEN points ELSE name END AS v FROM pupil ORDER BY v;
SELECT rooms FROM house ORDER BY rooms;
SELECT rooms, COUNT(*) FROM house GROUP BY rooms ORDER BY rooms;
SELECT MAX(rooms), MIN(rooms), COUNT(DISTINCT COALESCE(rooms, 'x')) FROM house;
SELECT rooms FROM house UNION ALL SELECT 'x' ORDER BY 1;
SELECT 1.0 FROM house UNION SELECT rooms FROM house UNION SELECT 3.0 UNION SELECT 2.5 ORDER BY 1 DESC;
SELECT code, founded FROM house UNION ALL SELECT 'Total', 'none' ORDER BY 2, 1;
SELECT 'Total', SUM(points) FROM pupil UNION ALL SELECT id, points FROM pupil;
SELECT n FROM extreme UNION SELECT x FROM extreme;
SELECT COALESCE(x, 'a"b\c' || char(10) || 'é'), IFNULL(n, 'none'), CASE WHEN id > 3 THEN n ELSE x END || '' FROM extreme;
WITH t AS (SELECT id, COALESCE(mentor, 'none') AS m FROM pupil) SELECT m, COUNT(*) FROM t GROUP BY m ORDER BY m;
WITH t AS (SELECT id, COALESCE(mentor, 'none') AS m FROM pupil) SELECT id, m + 1, m || 'x', typeof(m) FROM t WHERE m > 1;
SELECT (SELECT COALESCE(mentor, 'none') FROM pupil p WHERE p.id = q.id) FROM pupil q;
SELECT LAG(points, 1, 'first') OVER (ORDER BY id), LAG(height, 1, 0) OVER (ORDER BY id) FROM pupil;
SELECT FIRST_VALUE(COALESCE(mentor, 'x')) OVER (ORDER BY id DESC) FROM pupil;
SELECT CASE WHEN points > 2 THEN points ELSE 'low' END AS k, COUNT(*) FROM pupil GROUP BY k HAVING k <> 'x' ORDER BY 2 DESC, 1;
SELECT h.rooms, p.id FROM house h JOIN pupil p ON h.rooms = p.id;
SELECT house, MAX(COALESCE(mentor, 'x')) OVER (PARTITION BY house), COUNT(*) OVER (PARTITION BY COALESCE(mentor, 'x')) FROM pupil;

-- computed-offset
SELECT id, LAG(name, id) OVER (ORDER BY id), LEAD(points, points) OVER (ORDER BY id), LAG(id, points, -1) OVER (PARTITION BY house ORDER BY id) FROM pupil ORDER BY id;
SELECT id, NTH_VALUE(name, id) OVER (ORDER BY id), NTH_VALUE(id, id) OVER (PARTITION BY house ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM pupil ORDER BY id;
SELECT id, LEAD(height, id - 1, 0.5) OVER (PARTITION BY house ORDER BY id DESC) FROM pupil ORDER BY id;

-- outer-aggregate
SELECT (SELECT SUM(points) FROM subject), (SELECT MAX(p.points)), (SELECT COUNT(p.house) FROM nobody) FROM pupil p;
SELECT p.house, (SELECT COUNT(*) FROM pupil q WHERE q.points > AVG(p.points)) FROM pupil p GROUP BY p.house ORDER BY 1;
SELECT p.house, (SELECT SUM(p.points) - SUM(credits) FROM subject) FROM pupil p GROUP BY p.house ORDER BY p.house;
SELECT MAX(points), (SELECT COUNT(*) FROM mark WHERE score > MIN(p.height)) FROM pupil p;
SELECT COUNT(*), (SELECT COUNT(n.id) + credits FROM subject ORDER BY code LIMIT 1) FROM nobody n;
SELECT SUM(points), (SELECT COUNT(*) FROM subject WHERE credits > COUNT(n.points)) AS c FROM nobody n HAVING COUNT(*) < 5 ORDER BY c;

-- compound-collation
SELECT LOWER(n), i FROM (SELECT NULL AS n, 1 AS i UNION SELECT nick, NULL FROM pupil) ORDER BY 1, 2;
SELECT LOWER(n) FROM (SELECT 'ANN' AS n UNION SELECT nick FROM pupil) ORDER BY 1;
SELECT LOWER(n), i FROM (SELECT UPPER(name) AS n, id AS i FROM pupil INTERSECT SELECT nick, id FROM pupil) ORDER BY 1, 2;
SELECT LOWER(n) FROM (SELECT nick AS n FROM pupil UNION SELECT name FROM pupil) ORDER BY 1;
SELECT COUNT(*), COUNT(n) FROM (SELECT nick AS n, house FROM pupil UNION SELECT nick, house FROM pupil UNION ALL SELECT nick, 'N' FROM pupil UNION SELECT 'ANN', 'n');
SELECT COUNT(*) FROM pupil WHERE nick IN (SELECT nick FROM pupil INTERSECT SELECT UPPER(name) FROM pupil);
SELECT UPPER(n) AS u FROM (SELECT nick AS n FROM pupil EXCEPT SELECT name FROM pupil WHERE id > 3) ORDER BY u;
SELECT (SELECT COUNT(*) FROM (SELECT nick, id FROM pupil q WHERE q.id < p.id UNION SELECT name, id FROM pupil)) FROM pupil p ORDER BY id;
