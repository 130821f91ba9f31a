-- params: {"begin": 13344300800000000, "end": 13344473650000001, "max": 3}
-- params: ["https://news.example/"]
SELECT id, title, visit_count, typed_count, last_visit_time, hidden FROM urls WHERE url = ?;
-- params: ["news%", "%news%", 2]
SELECT url, title FROM urls WHERE hidden = 0 AND (title LIKE ?1 OR url LIKE ?2) ORDER BY typed_count DESC, visit_count DESC, last_visit_time DESC LIMIT ?3;
SELECT v.id, u.url, v.visit_time FROM visits v JOIN urls u ON u.id = v.url_id WHERE v.visit_time >= :begin AND v.visit_time < :end ORDER BY v.visit_time DESC, v.id LIMIT :max;
SELECT datetime(last_visit_time / 1000000 - 11644473600, 'unixepoch') AS at, url FROM urls ORDER BY last_visit_time DESC, id;
SELECT date(visit_time / 1000000 - 11644473600, 'unixepoch') AS day, count(*) AS visits, count(DISTINCT url_id) AS pages FROM visits GROUP BY day ORDER BY day DESC;
SELECT substr(url, 1, instr(url, '://') - 1) AS scheme, count(*) FROM urls GROUP BY scheme ORDER BY scheme;
SELECT CASE WHEN instr(rest, '/') THEN substr(rest, 1, instr(rest, '/') - 1) ELSE rest END AS host, sum(visit_count) AS n
FROM (SELECT substr(url, instr(url, '://') + 3) AS rest, visit_count FROM urls WHERE url LIKE 'http%') GROUP BY host ORDER BY n DESC, host;
-- params: [255, 1]
SELECT id FROM visits WHERE (transition & ?) = ? ORDER BY id;
-- params: [2]
WITH RECURSIVE chain(id, from_visit, n) AS (SELECT id, from_visit, 0 FROM visits WHERE id = ? UNION ALL SELECT v.id, v.from_visit, chain.n + 1 FROM visits v JOIN chain ON v.id = chain.from_visit) SELECT id, n FROM chain;
-- params: ["toolbar_____"]
SELECT b.id, b.title, u.url FROM bookmarks b LEFT JOIN urls u ON u.id = b.fk WHERE b.parent = (SELECT id FROM bookmarks WHERE guid = ?) ORDER BY b.position;
WITH RECURSIVE below(id, level) AS (VALUES (2, 0) UNION ALL SELECT b.id, level + 1 FROM bookmarks b JOIN below ON b.parent = below.id ORDER BY 2 DESC)
SELECT b.id, coalesce(b.title, u.title, u.url) AS name, level FROM below JOIN bookmarks b USING (id) LEFT JOIN urls u ON u.id = b.fk ORDER BY b.id;
SELECT max(position) + 1 FROM bookmarks WHERE parent = 5;
SELECT id, target_path, CASE WHEN total_bytes > 0 THEN 100.0 * received_bytes / total_bytes END AS percent FROM downloads ORDER BY start_time DESC;
-- params: ["/home/u/Downloads/", "/home/u/Downloads/"]
SELECT id, substr(target_path, length(?) + 1) AS name FROM downloads WHERE substr(target_path, 1, length(?)) = '/home/u/Downloads/' ORDER BY id;
-- params: ["*.pdf"]
SELECT count(*), total(received_bytes) FROM downloads WHERE target_path GLOB ?;
-- params: ["shop.example", "shop.example", 1650000000]
SELECT host_key, name, value FROM cookies WHERE (host_key = ? OR host_key = '.' || ?) AND (expires = 0 OR expires > ?) ORDER BY length(path) DESC, name;
SELECT host_key, count(*) AS n, sum(expires < 1700000000 AND expires <> 0) AS expired FROM cookies GROUP BY ltrim(host_key, '.') ORDER BY n DESC, host_key;
-- params: ["sqlite%"]
SELECT k.term, u.url FROM keywords k, urls u WHERE k.url_id = u.id AND k.lower_term LIKE ? ORDER BY k.lower_term;
-- params: ["version"]
SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?;
SELECT EXISTS (SELECT 1 FROM urls WHERE typed_count > 100) AS any_typed;
SELECT u.id FROM urls u LEFT JOIN bookmarks b ON b.fk = u.id LEFT JOIN visits v ON v.url_id = u.id AND v.visit_time > :begin WHERE b.id IS NULL AND v.id IS NULL ORDER BY u.id;
SELECT url_id, sum(duration) / 1000000 AS seconds, round(avg(duration) / 1e6, 2) AS mean FROM visits GROUP BY url_id HAVING sum(duration) > 0 ORDER BY seconds DESC, url_id;
-- params: [100, 14, 70, 31]
SELECT id, round(sum(CASE WHEN age < ?2 THEN ?1 WHEN age < ?4 THEN ?3 ELSE 10 END) * 1.0 / count(*), 1) AS frecency FROM (SELECT v.url_id AS id, (13344473700000000 - v.visit_time) / 86400000000 AS age FROM visits v) GROUP BY id ORDER BY frecency DESC, id;
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name;
-- params: ["urls", "%host_rev%"]
SELECT count(*) FROM sqlite_master WHERE name = ? AND sql LIKE ?;
