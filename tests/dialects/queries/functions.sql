-- choice-of-types
SELECT id, COALESCE(points, 'n/a') || '' FROM pupil ORDER BY id;
SELECT id, COALESCE(height, name) > 1 FROM pupil ORDER BY id;
SELECT id FROM pupil ORDER BY IFNULL(points, 'none'), id;

-- scalar-min-max
SELECT MAX(points, 5), MIN(points, height), MAX(points, height, id), MIN(name, 'M') FROM pupil ORDER BY id;
SELECT MAX(1, NULL, 3), MIN(id, NULL), MAX(name, house) FROM pupil ORDER BY id;
SELECT SUM(MAX(points, 5)), MAX(MIN(points, 5)) FROM pupil;
SELECT MIN(COALESCE(height, 0), 1.5), MAX(0, points - 5) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE MAX(points, mentor) = 10 ORDER BY id;
SELECT MAX(nick, 'C'), MIN(nick, 'annie') FROM pupil ORDER BY id;

-- iif
SELECT IIF(points > 3, 'many', 'few'), IIF(NULL, 1, 2), IIF(points, 1, 0.5) FROM pupil ORDER BY id;
SELECT SUM(IIF(house = 'N', 1, 0)) * 100.0 / COUNT(*), SUM(IIF(house = 'N', points, 0)) FROM pupil;
SELECT COUNT(IIF(height > 1.5, 1, NULL)), AVG(IIF(height > 1.5, points, NULL)) FROM pupil;
SELECT id FROM pupil ORDER BY IIF(house IS NULL, 1, 0), house, id;

-- time-value
SELECT id, DATE(seen), TIME(seen), DATETIME(seen), JULIANDAY(seen) FROM pupil ORDER BY id;
SELECT STRFTIME('%Y-%m-%d %H:%M:%f', seen), STRFTIME('%s', seen) FROM pupil ORDER BY id;
SELECT DATE(born), JULIANDAY(born), DATETIME(joined), TIME(joined), DATE(joined) FROM pupil ORDER BY id;
SELECT DATE(points), DATETIME(height), JULIANDAY(id), DATE(name) FROM pupil ORDER BY id;
SELECT CAST(JULIANDAY(joined) - JULIANDAY(born) AS INTEGER) FROM pupil ORDER BY id;
SELECT ROUND((JULIANDAY('2020-01-01') - JULIANDAY(born)) / 365.25, 1) FROM pupil ORDER BY id;
SELECT DATE(locker), DATE(remark) FROM pupil LEFT JOIN mark ON pupil = id AND weight = 5 ORDER BY id;

-- time-modifiers
SELECT DATE(born, '+1 month'), DATE(born, '-1 year', 'start of month'), DATE(born, '+1.5 days') FROM pupil ORDER BY id;
SELECT DATETIME(joined, '+90 minutes', '-1 hours'), DATE(joined, 'weekday 0'), TIME(joined, '+01:30') FROM pupil ORDER BY id;
SELECT DATE(born, 'start of year', '+1 year', '-1 day'), STRFTIME('%d', born, 'start of month', '+1 month', '-1 day') FROM pupil ORDER BY id;
SELECT DATETIME(points, 'unixepoch'), DATE(points * 100000000, 'unixepoch', '+1 day') FROM pupil ORDER BY id;
SELECT DATE(born, points || ' days'), DATE(born, '+' || id || ' months'), DATE(born, name) FROM pupil ORDER BY id;
SELECT DATETIME(seen, '+1 second'), DATE(seen, 'bogus'), DATE(seen, NULL) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE DATE(born, '+18 years') <= DATE(joined) ORDER BY id;
SELECT JULIANDAY(joined, 'start of day') - JULIANDAY(joined) FROM pupil ORDER BY id;

-- strftime
SELECT STRFTIME('%Y', born), STRFTIME('%m/%d', born), STRFTIME('%H:%M', joined) FROM pupil ORDER BY id;
SELECT STRFTIME('%Y', '2020-01-01') - STRFTIME('%Y', born) FROM pupil ORDER BY id;
SELECT (STRFTIME('%Y', joined) - STRFTIME('%Y', born)) - (STRFTIME('%m-%d', joined) < STRFTIME('%m-%d', born)) FROM pupil ORDER BY id;
SELECT CAST(STRFTIME('%Y', born) AS INTEGER) AS y, COUNT(*) FROM pupil GROUP BY y ORDER BY y;
SELECT STRFTIME('%j', born), STRFTIME('%w', born), STRFTIME('%W', born), STRFTIME('%s', joined), STRFTIME('%J', born) FROM pupil ORDER BY id;
SELECT STRFTIME('%Y-%m', day), COUNT(*) FROM mark GROUP BY STRFTIME('%Y-%m', day) ORDER BY 1;
SELECT STRFTIME('100%% %d.', born), STRFTIME('%q', born), STRFTIME('plain', born) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE STRFTIME('%Y', born) = '2001' AND STRFTIME('%m', born) IN ('02', '12') ORDER BY id;
SELECT id FROM pupil WHERE STRFTIME('%Y', born) BETWEEN '1998' AND '2000' ORDER BY id;
SELECT id FROM pupil WHERE STRFTIME('%m', born) + 0 > 6 ORDER BY id;
SELECT STRFTIME('%Y', born) || '-' || STRFTIME('%m', born), STRFTIME(NULL, born) FROM pupil ORDER BY id;

-- now
SELECT DATE('now') = DATE(), DATE('now') = CURRENT_DATE, LENGTH(CURRENT_TIMESTAMP), LENGTH(TIME('now'));
SELECT STRFTIME('%Y', 'now') - STRFTIME('%Y', born) > 15, DATE('now', '-100 years') < born FROM pupil ORDER BY id;
SELECT ABS(JULIANDAY('now') - JULIANDAY(CURRENT_TIMESTAMP)) < 0.01, DATETIME('now', '+1 day') > DATETIME('now');
SELECT STRFTIME('%Y', CURRENT_DATE) = STRFTIME('%Y', 'now'), DATE('now', 'start of month') <= DATE('now');

-- random
SELECT id, random() % 10 < 10, abs(random()) >= 0, typeof(random()) FROM pupil ORDER BY id;
SELECT COUNT(*) FROM (SELECT id FROM pupil ORDER BY random() LIMIT 3);
SELECT COUNT(*) FROM pupil WHERE random() IS NOT NULL AND id IN (SELECT id FROM mark ORDER BY random());

-- round
SELECT ROUND(height, 1), ROUND(height), ROUND(points), ROUND(points / 3.0, 2), ROUND(points, 2) FROM pupil ORDER BY id;
SELECT ROUND(x), ROUND(x, 2), ROUND(-x, 1), ROUND(n), ROUND(x, -1) FROM extreme ORDER BY id;
SELECT ROUND(AVG(height), 3), ROUND(SUM(points) * 100.0 / COUNT(*), 2), ROUND(NULL, 1) FROM pupil;
SELECT ROUND(locker, 1), ROUND(name) FROM pupil ORDER BY id;
SELECT ROUND(height, 1) || '', ROUND(points) || '%' FROM pupil ORDER BY id;
SELECT house, ROUND(CAST(SUM(points) AS REAL) / COUNT(*), 1) FROM pupil GROUP BY house ORDER BY 2, 1;
SELECT ROUND(height, points), ROUND(height, NULL) FROM pupil ORDER BY id;

-- abs-of-text
SELECT ABS(locker), ABS(name), ABS(seen) FROM pupil ORDER BY id;
SELECT ABS(points), ABS(height), ABS(-2.5) FROM pupil WHERE ABS(locker) >= 0 ORDER BY id;

-- math-of-text
SELECT SQRT(locker), FLOOR(locker), POWER(locker, 2) FROM pupil ORDER BY id;
SELECT CEIL(remark), SIGN(remark) FROM mark WHERE remark <> '' ORDER BY remark;

-- math-domain
SELECT SQRT(points), LN(points), LOG10(points), LOG(2, points) FROM pupil ORDER BY id;
SELECT ACOS(height), ASIN(height), POWER(points, 0.5), MOD(points, 4) FROM pupil ORDER BY id;
SELECT ROUND(SQRT(points * points + 1), 4), EXP(height), RADIANS(points), DEGREES(height) FROM pupil ORDER BY id;

-- integer-division
SELECT points / 3, -points / 3, points / 0, 7 / 2, -7 / 2, points / weight FROM pupil JOIN mark ON pupil = id WHERE code = 'PH' ORDER BY id;
SELECT SUM(points) / COUNT(*), COUNT(*) / 2, COUNT(points) * 100 / COUNT(*) FROM pupil;
SELECT code, SUM(weight) / COUNT(*), SUM(score) / SUM(weight) FROM mark GROUP BY code ORDER BY code;
SELECT 10 / 4 * 4, 10 / 4.0 * 4, 10 * 1.0 / 4, 1 / 3 * 3, (1 + 2) / (2 - 2);
SELECT id FROM pupil WHERE points / 0 IS NULL AND points / 2 = 3 ORDER BY id;
SELECT id / 2 AS half, COUNT(*) FROM pupil GROUP BY half ORDER BY half;
SELECT locker / 2, '7' / 2, '7.0' / 2, points / '2', LENGTH(name) / 2 FROM pupil ORDER BY id;
SELECT fee / 4 FROM house ORDER BY code;

-- real-division
SELECT height / 2, points / 4.0, points * 1.0 / 3, height / 0, height / points FROM pupil ORDER BY id;
SELECT CAST(SUM(points) AS REAL) / COUNT(*), AVG(points) / 0, SUM(height) / SUM(points) FROM pupil;
SELECT 1.0 / 3, 2 / 3.0, 1e308 / 10, 5 / 0.0, 0.1 + 0.2, 3 * 0.1, 1.1 * 1.1, 0.3 - 0.1;
SELECT SUM(score) / SUM(weight), SUM(weight) * 1.0 / COUNT(*) FROM mark GROUP BY code ORDER BY code;
SELECT SUM(CASE WHEN house = 'N' THEN 1.0 ELSE 0 END) / COUNT(*), 100.0 * COUNT(house) / COUNT(*) FROM pupil;
SELECT (SELECT COUNT(*) FROM pupil WHERE points > 3) * 1.0 / (SELECT COUNT(*) FROM nobody);

-- modulo
SELECT points % 3, -points % 3, points % 0, height % 2, 7.9 % 2.9, points % 2.0 FROM pupil ORDER BY id;
SELECT id % 2 AS odd, COUNT(*) FROM pupil GROUP BY odd ORDER BY odd;
SELECT id FROM pupil WHERE id % 3 = 0 ORDER BY id;
SELECT -7 % 3, 7 % -3, 7 % 0.5, 5 % NULL, '7' % '4', n % 10 FROM extreme ORDER BY id;

-- integer-overflow
SELECT n + 1, n - 1, n * 2, n * n, -n FROM extreme ORDER BY id;
SELECT 9223372036854775807 + 1, 9223372036854775807 * 2, -9223372036854775808 - 1, 3037000500 * 3037000500;
SELECT (n + 1) || '', TYPEOF(n * 2), (n * 3) % 7 FROM extreme ORDER BY id;
SELECT CAST(n + 1 - 1 AS TEXT), n + 1 - 1 = n, (n + n - n) || 'x', LENGTH(n * 2), SUBSTR(n * 2 - 1, 1, 5) FROM extreme ORDER BY id;
SELECT -(n + 1) || '', ABS(n + 1) > 5, PRINTF('%s', n - 2 + 1), (n + 9223372036854775807 - 9223372036854775807) || '' FROM extreme ORDER BY id;
SELECT id, n + 1 - 1, -(n + 1), n * 2 + id FROM extreme ORDER BY id;

-- concatenation
SELECT name || ', ' || house, name || NULL, points || height, id || '' FROM pupil ORDER BY id;
SELECT 'a' || 1 || 2.0 || NULL, 'a' || 'b' || 1, 1 || 2 + 3, -1 || 1, 1 || -1;
SELECT id FROM pupil WHERE name || house = 'AnnN' ORDER BY id;
SELECT name || '%' LIKE 'a%', house || '-' || name AS label FROM pupil ORDER BY label, id;
SELECT name || (SELECT COUNT(*) FROM mark WHERE pupil = id) FROM pupil ORDER BY id;
SELECT COUNT(*) AS n FROM pupil GROUP BY house || points ORDER BY n, house || points;
SELECT 'a' || 'b' LIKE 'AB', 'x' || 'y' = 'xy', 'a' || 'b' IN ('ab'), 1 + 2 || 'z';

-- bits
SELECT bits & 5, bits | 8, ~bits, bits << 2, bits >> 1 FROM extreme ORDER BY id;
SELECT id FROM extreme WHERE bits & 4 ORDER BY id;
SELECT 5 & 3 = 1, 1 | 2 << 1, ~0, 6 & -2, 1 << 3 | 1, x & 7 FROM extreme WHERE id < 7 ORDER BY id;
SELECT (~1 * ~5 & 1), 10 - 2 & 6, 2 | 1 = 3, 1 << 2 + 1;
SELECT SUM((bits & 1) = 0), ~~bits, -~bits FROM extreme GROUP BY id ORDER BY id;

-- printf
SELECT PRINTF('%d pts', points), PRINTF('%.2f', height), PRINTF('%s-%s', name, house) FROM pupil ORDER BY id;
SELECT PRINTF('%05d', points), FORMAT('%5.1f|', height), PRINTF('%-6s|', name) FROM pupil ORDER BY id;
SELECT PRINTF('%.1f%%', SUM(points) * 100.0 / COUNT(*)) FROM pupil;
SELECT PRINTF('%d', height), PRINTF('%d', locker), PRINTF('%s', points), PRINTF('%f', points) FROM pupil ORDER BY id;
SELECT PRINTF('%02d:%02d', id / 60, id % 60) FROM pupil ORDER BY id;
SELECT PRINTF('%e|%.3g|%G', height, x, x), PRINTF('%08.2f|%+.1f', height, height), PRINTF('%u', n) FROM pupil JOIN extreme USING (id) ORDER BY id;
SELECT PRINTF('%q|%Q|%w', name, nick, house), PRINTF('%*d|%.*f', 5, points, 1, height), PRINTF('%!8s|', name) FROM pupil ORDER BY id;

-- quoted-real
SELECT QUOTE(height), QUOTE(points / 3.0), QUOTE(points), QUOTE(CASE WHEN id > 3 THEN height ELSE points END) FROM pupil ORDER BY id;
SELECT QUOTE(x), QUOTE(x / 7) FROM extreme ORDER BY id;

-- ascii-case
SELECT LOWER(name), UPPER(name), LOWER("Full Name"), UPPER(remark) FROM pupil LEFT JOIN mark ON id = pupil AND weight = 3 ORDER BY id;
SELECT id FROM pupil WHERE LOWER(name) = 'ann' OR UPPER(name) = 'ZOË' ORDER BY id;
SELECT LOWER(name) AS n, COUNT(*) FROM pupil GROUP BY n ORDER BY n;
SELECT id FROM pupil WHERE LOWER(name) LIKE 'änn' OR LOWER(name) LIKE '%B' ORDER BY id;
SELECT LOWER('ÀB'), UPPER('straße'), LOWER(points), UPPER(SUBSTR(name, 1, 1)) || SUBSTR(name, 2) FROM pupil ORDER BY id;

-- substr
SELECT SUBSTR(name, 2), SUBSTR(name, -2), SUBSTR(name, -2, 1), SUBSTR(name, 0, 2), SUBSTR(name, 3, -2) FROM pupil ORDER BY id;
SELECT SUBSTR(name, 1, points), SUBSTR(name, points), SUBSTR(name, -points, 2) FROM pupil ORDER BY id;
SELECT SUBSTRING(born, 1, 4), SUBSTR(born, 6, 2), SUBSTR(born, -2), SUBSTR(points, 1, 1), SUBSTR(height, -2) FROM pupil ORDER BY id;
SELECT id FROM pupil WHERE SUBSTR(name, -1) = 'n' OR SUBSTR(name, 1, 1) IN ('B', 'Z') ORDER BY id;
SELECT SUBSTR(joined, 1, INSTR(joined, ' ')), SUBSTR(name, LENGTH(name) - 1) FROM pupil ORDER BY id;

-- trim-set
SELECT TRIM("Full Name"), RTRIM("Full Name", ' y'), LTRIM(name, 'AaÄ'), TRIM(name, '') FROM pupil ORDER BY id;
SELECT TRIM(remark, '0123456789'), TRIM(remark, 'go'), RTRIM(remark, ' points') FROM mark ORDER BY pupil, code, remark;
SELECT TRIM('  x '), TRIM('xxaxx', 'x'), LTRIM('	 x'), TRIM(name, house), TRIM(NULL, 'x'), TRIM('x', NULL) FROM pupil ORDER BY id;
SELECT RTRIM(RTRIM(height, '0'), '.'), TRIM(points, '1') FROM pupil ORDER BY id;

-- hex-null
SELECT HEX(name), HEX(points), HEX(height) FROM pupil ORDER BY id;
SELECT HEX(raw), HEX(NULL), LENGTH(HEX(raw)) FROM extreme ORDER BY id;

-- replace-nothing
SELECT REPLACE(name, house, '*'), REPLACE(name, nick, NULL), REPLACE(name, locker, 'x') FROM pupil ORDER BY id;
SELECT REPLACE('aaa', name, points) FROM pupil ORDER BY id;

-- typeof
SELECT TYPEOF(points), TYPEOF(height), TYPEOF(name), TYPEOF(born), TYPEOF(points + height) FROM pupil ORDER BY id;
SELECT TYPEOF(rooms), TYPEOF(fee), TYPEOF(founded), TYPEOF(NULL), TYPEOF(code || 1) FROM house ORDER BY code;
SELECT TYPEOF(raw), TYPEOF(n), TYPEOF(n / 2), TYPEOF(x > 1) FROM extreme ORDER BY id;
SELECT TYPEOF(SUM(points)), TYPEOF(AVG(points)), TYPEOF(COUNT(*)), TYPEOF(TOTAL(points)), TYPEOF(MAX(name)) FROM pupil;
SELECT TYPEOF(points) AS t, COUNT(*) FROM pupil GROUP BY t ORDER BY t;

-- json-text
SELECT json_array(id, name, height, points, NULL, points > 2, born, TRUE) FROM pupil ORDER BY id;
SELECT json_object('id', id, 'name', name, "no such column", nick, 'd"q', "Full Name" || char(10, 9, 8, 12, 13, 1, 31, 127) || '\/"é') FROM pupil ORDER BY id;
SELECT json_array(), json_object(), json_array(json_array()), json_array(1, 'a"b', 1.5, NULL, 2.0), json_object('k', 9007199254740993);
SELECT json_object('a', json_array(id, json_object('n', name)), 'b', (json_array(height))) FROM pupil ORDER BY id;
SELECT json_group_array(name) FROM (SELECT name FROM pupil ORDER BY id);
SELECT house, json_group_array(json_object('id', id, 'n', name)) FROM (SELECT * FROM pupil ORDER BY id) GROUP BY house ORDER BY house;
SELECT json_object('house', house, 'all', json_group_array(id)), COUNT(*) FROM (SELECT * FROM pupil ORDER BY id) GROUP BY house ORDER BY house;
SELECT json_group_array(id) FILTER (WHERE points > 2), json_group_array(points) FROM (SELECT * FROM pupil ORDER BY id);
SELECT json_group_array(id), json_group_array(1) FILTER (WHERE 0) FROM (SELECT * FROM nobody ORDER BY id);
SELECT length(json_array(name)), json_array(name) = '["Ann"]', upper(json_object('k', name)) FROM pupil ORDER BY id;
SELECT json_array(rooms, fee, title, CASE WHEN rooms THEN rooms ELSE title END, COALESCE(rooms, 'x')) FROM house ORDER BY code;
SELECT json_array(n, x, bits) FROM extreme ORDER BY id;
SELECT json_group_object(house, id), json_group_object(id, house) FROM (SELECT * FROM pupil ORDER BY id);
SELECT json_object('b', j -> 'b', 'c', j ->> 'b', 'd', json_extract(j, '$.a'), 'e', json_array_length(j, '$.b')), json_array(j -> 'b') FROM (SELECT id, '{"a": "\u00e9", "b": [' || id || ']}' AS j FROM pupil) ORDER BY id;
SELECT json_array(json_extract(j, '$.b')), json_object('b', json_extract(j, '$.b', '$.c')), json_object('c', json_extract(j, '$.c')), json_object(house, id) FROM (SELECT id, house, '{"b": [' || id || '], "c": "[1]"}' AS j FROM pupil WHERE house <> '') ORDER BY id;
SELECT j, COUNT(*) FROM (SELECT json_array(house, points > 2) AS j FROM pupil) GROUP BY j ORDER BY j;
SELECT id, json_object('marks', json_array((SELECT COUNT(*) FROM mark WHERE pupil = p.id)), 'rank', RANK() OVER (ORDER BY points)) FROM pupil p ORDER BY id;
SELECT id, JSON_QUOTE(name), JSON_QUOTE(points), JSON_QUOTE(height), JSON_QUOTE(NULL), JSON_ARRAY(JSON_QUOTE(name)) FROM pupil ORDER BY id;
SELECT JSON_GROUP_OBJECT(id, name) FROM (SELECT id, name FROM pupil ORDER BY id);
SELECT house, JSON_GROUP_OBJECT('k' || id, points) FROM (SELECT id, house, points FROM pupil ORDER BY id) GROUP BY house ORDER BY house;
SELECT JSON_GROUP_OBJECT(id, JSON(CASE WHEN id < 3 THEN '[1, 2]' END)) FROM (SELECT id FROM pupil ORDER BY id);
SELECT id, JSON_OBJECT('a', JSON('{"x" : 1}'), 'b', JSON(CASE WHEN id < 3 THEN ' [1]' END)) FROM pupil ORDER BY id;

SELECT json_extract(j, '$.' || k), j -> k, j ->> k, j ->> ('b[' || id || ']'), json_object('x', json_extract(j, '$.' || k)) FROM (SELECT id, CASE WHEN id % 2 THEN 'a' ELSE 'b' END AS k, '{"a": "' || name || '", "b": [1, ' || id || ', 2.0, null]}' AS j FROM pupil) ORDER BY id;
SELECT json_array(id, name, points) ->> (id % 4), json_array(id, name) -> ('$[#-' || (id % 2 + 1) || ']') FROM pupil ORDER BY id;

-- json-edit
WITH d AS (SELECT *, '{"a": ' || id || ', "b": [1, {"c": 2.50}], "n": null, "a": 0}' AS j FROM pupil) SELECT json_set(j, '$.a', points, '$.new', name), json_set(j, '$.b[1].c', height), json_set(j, '$.b[#]', name), json_set(j, '$.x.y[0]', id), json_set(j, '$.a.z', 1), json_set(j, '$.b', json_array(id)) FROM d ORDER BY id;
WITH d AS (SELECT *, '{"a": ' || id || ', "b": [1, 2, 3]}' AS j FROM pupil) SELECT json_insert(j, '$.a', 9, '$.c', name), json_insert(j, '$.b[#]', id), json_insert(j, '$.b[0]', id), json_replace(j, '$.a', name, '$.c', 1), json_replace(j, '$.b[#-1]', id), json_replace(j, '$.b[7]', 0) FROM d ORDER BY id;
WITH d AS (SELECT *, '{"a": ' || id || ', "b": [1, 2, 3]}' AS j FROM pupil) SELECT json_remove(j, '$.a'), json_remove(j, '$.b[1]', '$.a'), json_remove(j, '$.b[#-1]'), json_remove(j, '$.c'), json_remove(j), json_remove(json_object('k', name), '$.k') FROM d ORDER BY id;
WITH d AS (SELECT *, '{"a": ' || id || ', "b": {"c": 1}}' AS j FROM pupil) SELECT json_patch(j, '{"a": null, "q": 1.50}'), json_patch(j, '{"b": {"c": null, "d": {"e": null, "f": 2}}}'), json_patch(j, '{"a": {"x": 1}}'), json_patch(j, '[1]'), json_patch('7' || NULL, '{}') FROM d ORDER BY id;
SELECT json_set('{}', '$.v', points > 2, '$.s', NULL), json_array(json_set('{}', '$.v', id)), json_set(name, '$.a', 1) FROM pupil WHERE id > 100 ORDER BY id;

-- json-rows
SELECT * FROM json_each('{"a":1,"b c":[2,{"d":null}],"e":"x","f":1.50,"g":true,"h":[],"i1":"\u00e9","j_k":0}') ORDER BY id;
SELECT * FROM json_tree('[{"a":1,"b c":[2,{"d":null}]},"x",1.5,false,{},[[]],-0.0,12345678901]') ORDER BY id;
SELECT key, value, type, atom, fullkey, path FROM json_tree('{"a":{"b":[1,{"c":2}]}}', '$.a') ORDER BY fullkey;
SELECT key, value, fullkey, path FROM json_tree('{"a":{"b c":[5,{"d":7}]}}', '$.a."b c"') ORDER BY fullkey;
SELECT key, value, fullkey, path FROM json_each('{"a":[5,[6,7]]}', '$.a[1]') ORDER BY fullkey;
SELECT key, value, fullkey, path FROM json_each('{"a":{"b":[1,{"c":2}]}}', '$.a.b') ORDER BY key;
SELECT key, value, type FROM json_each('12') UNION ALL SELECT key, value, type FROM json_each('"x"') UNION ALL SELECT key, value, type FROM json_each('{"a":null}', '$.a') ORDER BY 3, 2;
SELECT COUNT(*) FROM json_each(NULL);
SELECT COUNT(*) FROM json_each('[1]', '$.a');
SELECT p.id, e.key, e.value FROM pupil p, json_each('[' || p.id || ',"' || p.house || '"]') e ORDER BY 1, 2;
SELECT p.id, e.value FROM pupil p LEFT JOIN json_each('[' || p.points || ']') e ON e.value > 3 ORDER BY p.id;
SELECT id FROM pupil WHERE id IN (SELECT value FROM json_each('[1,"2",3.0,4.5]')) ORDER BY id;
SELECT id FROM pupil WHERE EXISTS (SELECT 1 FROM json_each('[' || points || ',' || pupil.id || ']') WHERE value = 7) ORDER BY id;
SELECT id, (SELECT SUM(value) FROM json_each('[' || points || ',' || pupil.id || ']')) FROM pupil ORDER BY id;
SELECT e.type, COUNT(*), MAX(e.key) FROM pupil p LEFT JOIN json_each('[' || p.points || ',"' || p.name || '"]') e ON e.key > 0 GROUP BY e.type ORDER BY e.type;
SELECT DISTINCT e.type FROM pupil p JOIN json_tree('[' || p.id || ',[null,"' || p.house || '"]]') e ORDER BY e.type DESC;
SELECT p.id, m.code, e.value FROM pupil p LEFT JOIN mark m ON m.pupil = p.id LEFT JOIN json_each('[' || p.id || ',3]') e ON e.value < m.score ORDER BY 1, 2, 3, m.score;
SELECT p.id, ROW_NUMBER() OVER (PARTITION BY p.id ORDER BY e.key DESC), e.value FROM pupil p, json_each('["a",' || p.id || ']') e ORDER BY 1, 2;
SELECT id FROM pupil p WHERE '3' IN (SELECT value FROM json_each('["' || p.id || '"]')) OR NOT EXISTS (SELECT 1 FROM json_each('[' || p.id || ']') WHERE value > 2) ORDER BY id;
SELECT x.id, x.v FROM (SELECT p.id, e.value AS v FROM pupil p, json_each('["' || p.house || '"]') e) x WHERE x.v > 'A' ORDER BY 1;
SELECT type, COUNT(*), MAX(atom) FROM json_tree('{"a":[1,2,{"b":"x"}],"c":2.5}') GROUP BY type ORDER BY type;
SELECT json_each.value FROM json_each('[3,1,2]') ORDER BY json_each.value DESC LIMIT 2;
SELECT a.value, b.value FROM json_each('[[1,2],[3]]') a, json_each(a.value) b ORDER BY 1, 2;
SELECT value + 1, value || 'x', TYPEOF(value), UPPER(value) FROM json_each('[1,"a",2.5,null]') ORDER BY key;
WITH d AS (SELECT id, '{"k":[' || id || ']}' AS j FROM pupil) SELECT d.id, t.fullkey FROM d JOIN json_tree(d.j) t WHERE t.type = 'integer' ORDER BY 1;

-- json-part
SELECT id, json_extract('{"a":[' || id || ',"x"]}', '$.a[0]', '$.b', '$.a'), json_extract(NULL || id, '$.a', '$.b') FROM pupil ORDER BY id;
SELECT json_valid(name), json_valid(points), json_valid(locker), json_valid('[' || id || ', 01]'), json_valid(NULL) FROM pupil;
SELECT json_extract('{"a": ' || points || ', "b": [1, "x"], "a": 9}', '$.a'), json_extract(json_object('n', name, 'h', height), '$.h') FROM pupil WHERE points IS NOT NULL;
SELECT json_object('n', name) ->> 'n', json_object('n', name) -> '$.n', json_array(id, name) ->> 0, json_array(id, name) -> '[#-1]' FROM pupil;
SELECT json_type(json_array(id, name, height), '$[1]'), json_array_length(json_array(id, json_array(name, 2)), '$[1]'), json_type(json_object('a', mentor)) FROM pupil;
SELECT json('{ "k" : [' || id || ' , "a b"] }') FROM pupil;
SELECT json_array(name, points) ->> 1 AS v, COUNT(*) FROM pupil GROUP BY v ORDER BY v;
SELECT id FROM pupil WHERE json_object('p', points) ->> 'p' > 3 OR json_extract(json_array(name), '$[0]') = 'Cy' ORDER BY id;
SELECT SUM(json_extract(json_array(points), '$[0]')), MAX(json_array(name) ->> 0), COUNT(DISTINCT json_array(points) ->> 0) FROM pupil;
WITH j AS (SELECT id, '{"a": {"b": [' || id || ', 2.50, true, null, "\u00e4"]}}' AS d FROM pupil) SELECT d ->> '$.a.b[0]', d ->> '$.a.b[1]', d -> 'a', d ->> '$.a.b[2]', d ->> '$.a.b[3]', d ->> '$.a.b[#-1]' || '', d ->> '$.none' FROM j ORDER BY d ->> '$.a.b[0]';
