CREATE TABLE urls (id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR, visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL, hidden INTEGER DEFAULT 0 NOT NULL, host_rev TEXT);
CREATE TABLE visits (id INTEGER PRIMARY KEY, url_id INTEGER NOT NULL, visit_time INTEGER NOT NULL, from_visit INTEGER, transition INTEGER DEFAULT 0 NOT NULL, duration INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, kind INTEGER, fk INTEGER DEFAULT NULL, parent INTEGER, position INTEGER, title TEXT, added INTEGER, guid TEXT UNIQUE);
CREATE TABLE downloads (id INTEGER PRIMARY KEY, guid VARCHAR NOT NULL, target_path LONGVARCHAR NOT NULL, start_time INTEGER NOT NULL, received_bytes INTEGER NOT NULL, total_bytes INTEGER NOT NULL, state INTEGER NOT NULL, mime_type VARCHAR(255) NOT NULL);
CREATE TABLE cookies (host_key TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, path TEXT NOT NULL, expires INTEGER NOT NULL, secure INTEGER NOT NULL, UNIQUE (host_key, name, path));
CREATE TABLE keywords (term TEXT NOT NULL, lower_term TEXT NOT NULL, url_id INTEGER NOT NULL);
CREATE TABLE meta (key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
CREATE INDEX visits_time ON visits(visit_time);
INSERT INTO meta VALUES ('version', '58'), ('last_compatible_version', '16'), ('mmap_status', '-1');
INSERT INTO urls VALUES
 (1, 'https://news.example/', 'News — today', 42, 10, 13344473600000000, 0, 'elpmaxe.swen.'), (2, 'https://news.example/a?id=1', 'Article 1', 2, 0, 13344473700000000, 0, 'elpmaxe.swen.'),
 (3, 'http://docs.example/guide#top', 'Guide', 7, 3, 13344387200000000, 0, 'elpmaxe.scod.'), (4, 'https://shop.example/cart', NULL, 1, 0, 13344300800000000, 1, 'elpmaxe.pohs.'),
 (5, 'file:///home/u/a%20b.html', '', 3, 0, 13344214400000000, 0, '.'), (6, 'https://DOCS.example/API', 'API', 5, 1, 13344473600000000, 0, 'elpmaxe.scod.');
INSERT INTO visits VALUES (1, 1, 13344473600000000, NULL, 805306369, 30000000), (2, 2, 13344473650000000, 1, 805306368, 12000000), (3, 3, 13344387200000000, NULL, 805306368, 0), (4, 1, 13344387100000000, NULL, 1, 5000000), (5, 4, 13344300800000000, 3, 268435463, 1500000), (6, 5, 13344214400000000, NULL, 0, 0), (7, 6, 13344473600000000, 2, 0, 700000), (8, 2, 13344473700000000, 1, 8, 100);
INSERT INTO bookmarks VALUES (1, 2, NULL, 0, 0, 'root', 1, 'root________'), (2, 2, NULL, 1, 0, 'menu', 1, 'menu________'), (3, 2, NULL, 1, 1, 'toolbar', 1, 'toolbar_____'), (4, 1, 1, 3, 0, 'News', 1500000, 'aaaaaaaaaaaa'), (5, 2, NULL, 2, 0, 'Reading', 1600000, 'bbbbbbbbbbbb'), (6, 1, 3, 5, 0, NULL, 1600001, 'cccccccccccc'), (7, 1, 6, 5, 1, 'The API', 1600002, 'dddddddddddd'), (8, 3, NULL, 2, 1, '', 1600003, 'eeeeeeeeeeee');
INSERT INTO downloads VALUES (1, 'g-1', '/home/u/Downloads/report.pdf', 13344473600000000, 100, 100, 1, 'application/pdf'), (2, 'g-2', '/home/u/Downloads/film.MKV', 13344473000000000, 512, 4294967296, 2, 'video/x-matroska'), (3, 'g-3', '/tmp/report (1).pdf', 13344470000000000, 0, -1, 0, 'application/pdf');
INSERT INTO cookies VALUES ('.example', 'sid', 'abc', '/', 1700000000, 1), ('shop.example', 'cart', '3', '/', 0, 0), ('.shop.example', 'sid', 'x=y', '/cart', 1800000000, 1), ('news.example', 'seen', '', '/', 1600000000, 0);
INSERT INTO keywords VALUES ('SQLite Window', 'sqlite window', 3), ('news', 'news', 1), ('sqlite fts', 'sqlite fts', 6);
