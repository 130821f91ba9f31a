-- numeric-prefix
SELECT id, locker + 1, -locker, locker * 1.5, +locker FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE locker ORDER BY id;
SELECT id, NOT seen, seen AND 1, seen OR 0 FROM pupil ORDER BY id;
SELECT SUM(remark), AVG(remark), TOTAL(remark), SUM(locker) FROM mark, pupil WHERE pupil = id;
SELECT born + 1, born - 2000, joined / 2 FROM pupil ORDER BY id;
SELECT '3x' * 2, '0x10' + 0, ' 4' - '.5', 'abc' + 1, '1e2z' + 0, '' + 0, '-' + 1;
SELECT id, locker % 4, locker | 1, ~locker FROM pupil ORDER BY id;
SELECT CASE WHEN 'b' THEN 1 WHEN '1b' THEN 2 END, IIF('0.1', 'y', 'n'), IIF('a', 'y', 'n');

-- number-as-condition
SELECT id FROM pupil WHERE points ORDER BY id;
SELECT id FROM pupil WHERE NOT points ORDER BY id;
SELECT id FROM pupil WHERE height AND points - 10 ORDER BY id;
SELECT house, SUM(points) FROM pupil GROUP BY house HAVING SUM(points) ORDER BY house;
SELECT p.id, m.id FROM pupil p JOIN pupil m ON p.mentor = m.id AND m.points ORDER BY p.id;
SELECT CASE WHEN height THEN 'tall' ELSE 'none' END FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE LENGTH(name) ORDER BY id;
SELECT code FROM house WHERE fee ORDER BY code;
SELECT code FROM house WHERE rooms ORDER BY code;

-- condition-as-number
SELECT id, points > 3, name IS NULL, points = NULL, NOT points > 3 FROM pupil ORDER BY id;
SELECT (points > 3) + (height > 1.5) AS n, id FROM pupil ORDER BY n, id;
SELECT SUM(points > 3), AVG(points > 3), COUNT(points > 3), MAX(points > 3), TOTAL(name LIKE 'a%') FROM pupil;
SELECT points BETWEEN 3 AND 7, COUNT(*) FROM pupil GROUP BY points BETWEEN 3 AND 7 ORDER BY 1;
SELECT id FROM pupil ORDER BY points > 3 DESC, id;
SELECT EXISTS (SELECT 1 FROM nobody), NOT EXISTS (SELECT 1 FROM mark), 1 IN (1, 2), 3 IN (SELECT id FROM pupil);
SELECT (points > 3) || 'x', (points > 3) = 1, (points > 3) IN (0, 1), -(points > 3) FROM pupil ORDER BY id;
SELECT MAX(points > 3, 0), COALESCE(points > 3, 2), IIF(points > 3, points > 7, 5) FROM pupil ORDER BY id;
SELECT DISTINCT name IN ('Ann', 'Bob') AS known FROM pupil ORDER BY known DESC;
SELECT TRUE, FALSE, TRUE + TRUE, TRUE = 1, 2 IS TRUE, 0.5 IS NOT FALSE, NULL IS NOT TRUE;
SELECT 1 < 2 < 3, 3 > 2 > 1, 1 = 1 = 1, 5 = 5 = 5, NOT 1 = 2, NOT (1 IS NULL);

-- number-as-text
SELECT id, points || '', height || 'm', CAST(height AS TEXT) FROM pupil ORDER BY id;
SELECT n || '', CAST(n AS TEXT), x || '' FROM extreme ORDER BY id;
SELECT LENGTH(points), LENGTH(height), SUBSTR(n, 1, 3), UPPER(x) FROM pupil JOIN extreme USING (id) ORDER BY id;
SELECT GROUP_CONCAT(height) FROM (SELECT height FROM pupil ORDER BY id);
SELECT id FROM pupil WHERE points LIKE '1%' ORDER BY id;
SELECT id FROM pupil WHERE height LIKE '%.0' OR height LIKE '1.7_' ORDER BY id;
SELECT code FROM house WHERE fee LIKE '10%' ORDER BY code;
SELECT code, fee || '' FROM house ORDER BY code;
SELECT 1e3 || '', 1.0 || '', 100000000000000000000 || '', 0.1 || '', 1e-9 || '', -0.0 || '';

-- integer-sum
SELECT SUM(points), SUM(points) / 2, SUM(points) / 2.0, SUM(DISTINCT points) FROM pupil;
SELECT house, SUM(points) FROM pupil GROUP BY house ORDER BY SUM(points) DESC, house;
SELECT SUM(points) FROM nobody;
SELECT SUM(CASE WHEN points > 3 THEN 1 ELSE 0 END) * 100 / COUNT(*) FROM pupil;
SELECT SUM(points) || '', SUM(1), SUM(points) % 4, SUM(points * 2) - SUM(points) FROM pupil;

-- real-average
SELECT AVG(points), AVG(height), AVG(DISTINCT points), AVG(points) || '' FROM pupil;
SELECT house, AVG(points) FROM pupil GROUP BY house ORDER BY AVG(points), house;
SELECT AVG(remark), AVG(code), AVG(score) FROM mark;
SELECT AVG(IIF(id > 5, n, 0.5)), TOTAL(IIF(id > 5, n, 0.5)) FROM extreme;
SELECT AVG(points) FROM nobody;
SELECT AVG(fee), AVG(rooms), AVG(founded) FROM house;
SELECT id FROM pupil WHERE points > (SELECT AVG(points) FROM pupil) ORDER BY id;
SELECT AVG(1), AVG(2) / 4, CAST(AVG(points) AS INTEGER) FROM pupil;

-- total
SELECT TOTAL(points), TOTAL(height), TOTAL(name) FROM pupil;
SELECT TOTAL(points), TOTAL(points) + 1 FROM nobody;
SELECT house, TOTAL(points) FROM pupil GROUP BY house ORDER BY 2, 1;

-- group-concat
SELECT GROUP_CONCAT(name) FROM (SELECT name FROM pupil ORDER BY id);
SELECT GROUP_CONCAT(name, ' / ') FROM (SELECT name FROM pupil ORDER BY name DESC, id);
SELECT GROUP_CONCAT(points, '') FROM (SELECT points FROM pupil ORDER BY points, id);
SELECT house, GROUP_CONCAT(name, '; ') FROM (SELECT house, name FROM pupil ORDER BY house, id DESC) GROUP BY house ORDER BY house;
SELECT GROUP_CONCAT(DISTINCT title) FROM house WHERE code = 'N';
SELECT GROUP_CONCAT(name) FROM nobody;
SELECT GROUP_CONCAT(x, '|') FROM (SELECT name || id AS x FROM pupil WHERE points > 3 ORDER BY 1 LIMIT 3);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT LENGTH(GROUP_CONCAT(i)) FROM n;

-- aggregate-filter
SELECT COUNT(*) FILTER (WHERE points > 3), COUNT(name) FILTER (WHERE points > 3) FROM pupil;
SELECT SUM(points) FILTER (WHERE house = 'N'), AVG(points) FILTER (WHERE 0), MAX(name) FILTER (WHERE id < 4) FROM pupil;
SELECT house, COUNT(DISTINCT points) FILTER (WHERE height IS NOT NULL) FROM pupil GROUP BY house ORDER BY house;
SELECT TOTAL(points) FILTER (WHERE NULL), SUM(height) FILTER (WHERE name LIKE 'b%') FROM pupil;
SELECT id, SUM(points) FILTER (WHERE points > 3) OVER (ORDER BY id) FROM pupil ORDER BY id;

-- constant-call
SELECT UPPER('aé'), LENGTH('hé'), ROUND(2.5), ABS(-3), SUBSTR('abc', -2), HEX('a'), INSTR('abc', 'c');
SELECT DATE('2020-01-31', '+1 month'), STRFTIME('%j', '2020-12-31'), JULIANDAY('2000-01-01');
SELECT id FROM pupil WHERE born > DATE('2000-01-31', '+1 month') ORDER BY id;
SELECT COALESCE(NULL, 2), NULLIF(1, 1), IFNULL(NULL, 'x'), MAX(1, 2.5), MIN('a', 1), REPLACE('aXa', 'X', '');
SELECT CAST(X'616263' AS TEXT), CAST(X'313233' AS NUMERIC) = '123', CAST('1e400' AS REAL) > 1e308, 'a' LIKE 'A' ESCAPE 'x', quote(1.5 + 1);
SELECT CASE (2, 2) WHEN (1, 1) THEN 2 ELSE 1 END, typeof(CAST(X'41' AS TEXT)), length(CAST('äb' AS BLOB));
SELECT id FROM pupil ORDER BY id LIMIT CASE WHEN X'31' THEN 2 END;
SELECT id FROM pupil ORDER BY id LIMIT ~0 OFFSET CASE WHEN 1 THEN 2 END;

-- cast
SELECT id, CAST(CASE WHEN id > 4 THEN 7 ELSE '10x' END AS INTEGER) > locker, CAST(IFNULL(points, 'x') AS TEXT) = points FROM pupil ORDER BY id;
SELECT CAST(locker AS INTEGER), CAST(locker AS REAL), CAST(locker AS NUMERIC) FROM pupil ORDER BY id;
SELECT CAST(height AS INTEGER), CAST(points AS REAL), CAST(points AS TEXT), CAST(name AS INT) FROM pupil ORDER BY id;
SELECT CAST(x AS INTEGER), CAST(-x AS INTEGER) FROM extreme ORDER BY id;
SELECT CAST(born AS INTEGER), CAST(SUBSTR(born, 6, 2) AS INTEGER), CAST(joined AS DATE) FROM pupil ORDER BY id;
SELECT CAST(SUM(CASE WHEN points > 3 THEN 1 ELSE 0 END) AS REAL) * 100 / COUNT(id) FROM pupil;
SELECT CAST(COUNT(CASE WHEN house = 'N' THEN 1 END) AS FLOAT) / COUNT(*), CAST(7 AS REAL) / 2 FROM pupil;
SELECT CAST('9e1' AS INTEGER), CAST('9e1' AS REAL), CAST(' -5.9x' AS INTEGER), CAST(-5.9 AS INTEGER), CAST('99999999999999999999' AS INTEGER), CAST(1e30 AS INTEGER), CAST(NULL AS TEXT), CAST('' AS REAL);
SELECT CAST(points AS VARCHAR(1)), CAST(name AS VARCHAR(1)), CAST(height AS DECIMAL(10, 1)), CAST('1.50' AS NUMERIC) FROM pupil ORDER BY id;
SELECT CAST(REPLACE(remark, ' points', '') AS INTEGER) AS n FROM mark ORDER BY n;
SELECT CAST(rooms AS INTEGER), CAST(fee AS INTEGER), CAST(rooms AS TEXT), CAST(fee AS TEXT) FROM house ORDER BY code;
SELECT id, HEX(CAST(name AS BLOB)), LENGTH(CAST(name AS BLOB)), CAST(points AS BLOB) = X'3130', TYPEOF(CAST(raw AS BLOB)) FROM pupil LEFT JOIN extreme USING (id) ORDER BY id;

-- mixed-column
SELECT id, v, w, far, f, TYPEOF(v), TYPEOF(w), TYPEOF(far), TYPEOF(f) FROM loose ORDER BY id;
SELECT id FROM loose ORDER BY v, id;
SELECT id, far FROM loose ORDER BY far DESC, id;
SELECT MIN(v), MAX(v), MIN(w), MAX(w), MIN(f), MAX(f), COUNT(v), COUNT(DISTINCT v), COUNT(DISTINCT w) FROM loose;
SELECT SUM(v), AVG(v), TOTAL(v), TYPEOF(SUM(v)), SUM(w), TYPEOF(SUM(w)), SUM(f), TYPEOF(MAX(f)) FROM loose;
SELECT id, v + 1, v * 2, -v, v || 'x', v / 2, CAST(v AS INTEGER), CAST(v AS TEXT), LENGTH(v) FROM loose ORDER BY id;
SELECT id FROM loose WHERE v > 3 ORDER BY id;
SELECT id FROM loose WHERE v > 'a' ORDER BY id;
SELECT id FROM loose WHERE v = 5 ORDER BY id;
SELECT id FROM loose WHERE v = '5' OR far = '1' ORDER BY id;
SELECT id FROM loose WHERE far > 9007199254740992 ORDER BY id;
SELECT id FROM loose WHERE far = 9007199254740993 OR far = 1 ORDER BY id;
SELECT id FROM loose WHERE v IN (5, 'abc') OR w IN ('a', 2) ORDER BY id;
SELECT a.id, b.id FROM loose a JOIN loose b ON a.v = b.w ORDER BY 1, 2;
SELECT a.id, b.id FROM loose a JOIN loose b ON a.v = b.v ORDER BY 1, 2;
SELECT p.id, l.id FROM pupil p JOIN loose l ON p.points = l.v ORDER BY 1, 2;
SELECT p.id, l.id FROM pupil p JOIN loose l ON p.locker = l.v ORDER BY 1, 2;
SELECT v, COUNT(*) FROM loose GROUP BY v ORDER BY v;
SELECT w, MAX(v), COUNT(*) FROM loose GROUP BY w ORDER BY w;
SELECT v FROM loose GROUP BY v HAVING COUNT(*) > 1;
SELECT DISTINCT v FROM loose ORDER BY v;
SELECT COUNT(*) FROM (SELECT DISTINCT v FROM loose);
SELECT id FROM loose WHERE v IN (SELECT w FROM loose) ORDER BY id;
SELECT id, MAX(v, w), COALESCE(v, w, 'none'), NULLIF(v, 5), CASE WHEN v > 3 THEN v ELSE w END FROM loose ORDER BY id;
SELECT id, SUM(v) OVER (ORDER BY id), MAX(v) OVER (ORDER BY id), COUNT(*) OVER (PARTITION BY v) FROM loose ORDER BY id;
SELECT v FROM loose UNION SELECT w FROM loose ORDER BY 1;
SELECT v, x FROM (SELECT v, f AS x FROM loose WHERE id < 8) ORDER BY x, v;
SELECT code FROM house WHERE rooms > 2 ORDER BY code;
SELECT code FROM house WHERE rooms = '' ORDER BY code;
SELECT code FROM house WHERE rooms = '3' OR rooms = 12.0 ORDER BY code;
SELECT code FROM house WHERE rooms < 5 AND rooms <> '' ORDER BY code;
SELECT COUNT(rooms), SUM(rooms), COUNT(DISTINCT rooms), COUNT(NULLIF(rooms, '')) FROM house;
SELECT code FROM house ORDER BY rooms, code;
SELECT code FROM house ORDER BY rooms DESC, code;
SELECT code, fee, fee / 4, fee / 3, fee * 2, fee + 1 FROM house ORDER BY fee, code;
SELECT code, TYPEOF(fee), TYPEOF(rooms), fee % 3 FROM house ORDER BY code;
SELECT MAX(fee), MIN(fee), SUM(fee), AVG(fee), SUM(fee) / 4 FROM house;
SELECT fee, COUNT(*) FROM house GROUP BY fee HAVING fee > 1 ORDER BY fee;
SELECT COUNT(*) FROM house GROUP BY fee ORDER BY fee;
SELECT fee / 4, COUNT(*) FROM house GROUP BY fee / 4 ORDER BY 1;
SELECT code, rooms + 0, rooms * 2, rooms || '', CAST(rooms AS INTEGER) FROM house ORDER BY code;
SELECT code, CASE WHEN rooms = '' THEN -1 ELSE rooms + 0 END FROM house ORDER BY code;
SELECT h.code, p.id FROM house h JOIN pupil p ON h.rooms = p.id ORDER BY p.id;
SELECT code, IFNULL(fee, 0), COALESCE(fee, 'none') IS NULL, fee IN (10, 2), fee IN ('10') FROM house ORDER BY code;
SELECT COUNT(*) FROM house GROUP BY rooms ORDER BY 1;

-- comparison-affinity
SELECT id FROM pupil WHERE locker = 7 ORDER BY id;
SELECT id FROM pupil WHERE locker > 5 ORDER BY id;
SELECT id FROM pupil WHERE points = '10' OR points < '3.0' ORDER BY id;
SELECT id FROM pupil WHERE height = '1.50' ORDER BY id;
SELECT p.id, m.code FROM pupil p JOIN mark m ON m.remark = p.id ORDER BY p.id, m.code;
SELECT p.id, m.code FROM pupil p JOIN mark m ON NOT m.remark = p.id ORDER BY p.id, m.code;
SELECT id FROM pupil WHERE id IN (SELECT remark FROM mark) ORDER BY id;
SELECT id FROM pupil WHERE locker NOT IN (SELECT score FROM mark WHERE score IS NOT NULL) ORDER BY id;
SELECT code, code IN (SELECT height FROM pupil), remark NOT IN (SELECT weight FROM mark) FROM mark ORDER BY code, remark;
SELECT id FROM extreme WHERE n IN (SELECT x FROM extreme) OR n IN (SELECT locker FROM pupil) ORDER BY id;
SELECT s.code, p.id FROM subject s JOIN pupil p ON s.code = p.id ORDER BY p.id;
SELECT id FROM pupil WHERE points BETWEEN '3' AND '7.5' ORDER BY id;
SELECT id FROM pupil WHERE CAST(locker AS INTEGER) = '7' ORDER BY id;
SELECT CASE points WHEN '10' THEN 'ten' WHEN 7.0 THEN 'seven' ELSE 'other' END FROM pupil ORDER BY id;
SELECT code FROM subject WHERE code = 1 OR credits = ' 4 ' ORDER BY code;
SELECT code FROM subject WHERE code IN (1) OR credits IN ('4') ORDER BY code;
SELECT id FROM pupil WHERE points = (SELECT '10') ORDER BY id;
SELECT id, locker IS 7, locker IS NOT '7', locker BETWEEN 7 AND 9 FROM pupil ORDER BY id;

-- class-order
SELECT 1 = '1', 1 < '0', 'a' > 9e99, 1 IN ('1'), '1' IN (1, '1'), NULL = 'a', 2.0 = 2;
SELECT id, points + 0 = '10', points + 0 < '3', LENGTH(name) = '3', '3' >= LENGTH(name) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE UPPER(locker) = 7 OR ABS(points) = '10' ORDER BY id;
SELECT id FROM pupil WHERE STRFTIME('%Y', born) > 2000 ORDER BY id;
SELECT id FROM pupil WHERE STRFTIME('%Y', born) = 2001 ORDER BY id;
SELECT id FROM pupil WHERE SUBSTR(born, 1, 4) = 2001 ORDER BY id;
SELECT COUNT(*) FROM pupil HAVING COUNT(*) > '3';
SELECT house, COUNT(*) FROM pupil GROUP BY house HAVING COUNT(*) < '1' ORDER BY house;
SELECT CASE 1 WHEN '1' THEN 'text' ELSE 'number' END, NULLIF(1, '1'), 1 IS '1', 1 IS NOT '1';
SELECT MAX(1, 'a'), MIN('a', 0.5), 5 BETWEEN 1 AND 'z';

-- collation
SELECT NULLIF('a', 'A' COLLATE NOCASE), MAX('a', 'A' COLLATE NOCASE), MIN('B' COLLATE NOCASE, 'a');
SELECT id FROM pupil WHERE nick = 'BOB' ORDER BY id;
SELECT id FROM pupil WHERE nick IN ('BOB', 'zed') ORDER BY id;
SELECT id FROM pupil WHERE name = 'ANN' COLLATE NOCASE ORDER BY id;
SELECT id FROM pupil ORDER BY name COLLATE NOCASE, id;
SELECT id FROM pupil ORDER BY nick DESC, id;
SELECT COUNT(DISTINCT nick), COUNT(DISTINCT name) FROM pupil;
SELECT COUNT(*) AS n FROM pupil GROUP BY nick ORDER BY n;
SELECT a.id, b.id FROM pupil a JOIN pupil b ON a.nick = b.nick AND a.id < b.id ORDER BY 1, 2;
SELECT id FROM pupil WHERE nick > 'b' AND nick < 'Z' ORDER BY id;
SELECT id FROM pupil WHERE name || ' ' = 'Ann' COLLATE RTRIM ORDER BY id;
SELECT id, nick = 'ANNIE', nick COLLATE BINARY = 'ANNIE', 'ANNIE' = nick, nick IS 'bob' FROM pupil ORDER BY id;
SELECT id, nick BETWEEN 'A' AND 'bob', CASE nick WHEN 'BOB' THEN 1 ELSE 0 END FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE name COLLATE NOCASE IN ('ann', 'bob') ORDER BY id;
SELECT id FROM pupil WHERE nick = (SELECT 'BOB') ORDER BY id;
SELECT id FROM pupil WHERE nick IN (SELECT UPPER(nick) FROM pupil) ORDER BY id;
SELECT id, RANK() OVER (ORDER BY nick) FROM pupil ORDER BY id;
SELECT id, v COLLATE NOCASE FROM loose ORDER BY w COLLATE NOCASE, id;
SELECT 'a' IN ('A' COLLATE NOCASE), 'a' IN ('A' COLLATE NOCASE, 'b'), 'a' COLLATE BINARY IN ('A' COLLATE NOCASE), name IN ('ANN' COLLATE NOCASE) FROM pupil ORDER BY id;

-- is-with-values
SELECT id, points IS 10, points IS NOT 10, points IS mentor, points IS NOT mentor FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE name IS 'Ann' OR points IS NULL ORDER BY id;
SELECT a.id, b.id FROM pupil a JOIN pupil b ON a.points IS b.points AND a.id < b.id ORDER BY 1, 2;
SELECT NULL IS NULL, NULL IS NOT NULL, 1 IS 1.0, 'a' IS 'A', NULL IS 0, 1 IS NOT DISTINCT FROM 1;

-- row-values
SELECT id FROM pupil WHERE (points, height) = (10, 1.5) ORDER BY id;
SELECT id FROM pupil WHERE (points, name) > (7, 'B') ORDER BY id;
SELECT id FROM pupil WHERE (points, name) <= (7, 'a') ORDER BY id;
SELECT id, (points, name) IS (7, ''), (points, mentor) <> (10, 2), (points, mentor) < (10, 2) FROM pupil ORDER BY id;
SELECT (1, 2) < (1, 3), (1, NULL) < (2, 0), (1, NULL) = (1, 2), (2, NULL) > (1, 0), (1, '1') = (1, 1);
SELECT id FROM pupil WHERE (name, points) = (SELECT name, points FROM pupil ORDER BY id DESC) ORDER BY id;
SELECT (3, 7) = (SELECT weight, 7 FROM mark ORDER BY weight DESC, pupil), (SELECT * FROM subject ORDER BY code) = ('1', 'One', 4);
SELECT id FROM pupil p WHERE (points, id) >= (SELECT points, id FROM pupil q WHERE q.house = p.house ORDER BY points, id) ORDER BY id;
SELECT id, CASE (house, points) WHEN ('N', 10) THEN 'a' WHEN ('S', 10) THEN 'b' ELSE 'c' END FROM pupil ORDER BY id;

-- null-order
SELECT id FROM pupil ORDER BY points, id;
SELECT id FROM pupil ORDER BY points DESC, name, id;
SELECT id FROM pupil ORDER BY points NULLS LAST, height DESC NULLS FIRST, id;
SELECT id FROM pupil ORDER BY points + height DESC NULLS LAST, id;
SELECT house, MAX(points) AS best FROM pupil GROUP BY house ORDER BY best, house DESC;
SELECT id, RANK() OVER (ORDER BY points), RANK() OVER (ORDER BY points DESC NULLS FIRST) FROM pupil ORDER BY id;
SELECT points FROM pupil UNION SELECT NULL ORDER BY 1;
SELECT name FROM pupil ORDER BY points DESC NULLS LAST, id LIMIT 3;

-- like-ascii-case
SELECT id FROM pupil WHERE name LIKE 'ANN' OR name LIKE 'b%' ORDER BY id;
SELECT id, name LIKE 'ä%', name LIKE 'Ä%', name LIKE '%Ë', nick LIKE 'BOB' FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE name NOT LIKE '%n%' ORDER BY id;
SELECT id FROM pupil WHERE "Full Name" LIKE "%o'h%" ORDER BY id;
SELECT id FROM pupil WHERE 'Ann Lee' LIKE name || '%' ORDER BY id;
SELECT a.id, b.id FROM pupil a, pupil b WHERE a.name LIKE b.name AND a.id <> b.id ORDER BY 1, 2;
SELECT SUM(name LIKE 'A%'), SUM(CASE WHEN remark LIKE 'GOOD' THEN 1 END) FROM pupil LEFT JOIN mark ON pupil = id;
SELECT id FROM pupil WHERE name LIKE 'ann' COLLATE BINARY ORDER BY id;

-- like-escape
SELECT id FROM pupil WHERE "Full Name" LIKE '%!%' ESCAPE '!' ORDER BY id;
SELECT remark LIKE '50x%' ESCAPE 'x', remark LIKE '%\%', 'a\b' LIKE 'a\b', 'a\%' LIKE 'a\%' FROM mark ORDER BY pupil, code, remark;
SELECT id FROM pupil WHERE name LIKE substr(name, 1, 1) || '\' || substr(name, 2) || '%' ESCAPE '\' ORDER BY id;
SELECT remark, remark LIKE remark || '\' ESCAPE '\', remark LIKE remark || '!!' ESCAPE '!', remark LIKE remark || '!!!' ESCAPE '!', 'a!' LIKE substr('Ba!!', 2) ESCAPE '!' FROM mark ORDER BY pupil, code, remark;
SELECT id, name NOT LIKE '%' || replace(nick, 'b', '|_') || '%' ESCAPE '|', name LIKE '%|' || nick ESCAPE '|' FROM pupil ORDER BY id;

-- glob
SELECT id FROM pupil WHERE name GLOB 'A*' OR name GLOB '?ob' ORDER BY id;
SELECT id, name GLOB '[a-c]*', name GLOB '[^A-Z]*', born GLOB '*-02-2[89]', nick GLOB 'b*' FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE name NOT GLOB '*n*' ORDER BY id;
SELECT id, lower(name) GLOB 'A*', lower(name) GLOB 'a*', lower(name) LIKE 'A%' FROM pupil ORDER BY id;
SELECT a.id, b.id FROM pupil a JOIN pupil b ON a.name GLOB b.name || '*' AND a.id < b.id ORDER BY 1, 2;
