-- params: {"album": 2, "stars": 4, "lat": 38.722, "lon": -9.139, "radius": 0.01}
SELECT p.id, f.path || '/' || p.filename AS path FROM photos p JOIN folders f ON f.id = p.folder_id WHERE p.rating >= :stars ORDER BY p.taken, p.id;
-- params: ["2023-01-01", "2024-01-01"]
SELECT id FROM photos WHERE taken >= ? AND taken < ? ORDER BY taken DESC, id DESC;
SELECT substr(taken, 1, 7) AS month, count(*) AS n, sum(size) / 1048576.0 AS mb FROM photos WHERE taken IS NOT NULL GROUP BY month ORDER BY month DESC;
SELECT strftime('%Y', taken) AS year, strftime('%m', taken) AS month, count(*) FROM photos GROUP BY year, month ORDER BY year, month;
-- params: ["/photos/2023"]
SELECT count(*) FROM photos WHERE folder_id IN (SELECT id FROM folders WHERE path = ?1 OR path LIKE ?1 || '/%');
SELECT c.maker || ' ' || c.model AS camera, count(p.id) AS n FROM cameras c LEFT JOIN photos p ON p.camera_id = c.id GROUP BY c.id ORDER BY n DESC, camera;
-- params: [160, 400, 5.6]
SELECT id, iso, aperture FROM photos WHERE iso BETWEEN ? AND ? AND aperture <= ? ORDER BY id;
SELECT id, CASE WHEN width > height THEN 'landscape' WHEN width < height THEN 'portrait' ELSE 'square' END AS shape, round(1.0 * max(width, height) / min(width, height), 2) AS ratio FROM photos ORDER BY id;
SELECT id, (lat - :lat) * (lat - :lat) + (lon - :lon) * (lon - :lon) AS d FROM photos WHERE lat IS NOT NULL AND abs(lat - :lat) < :radius AND abs(lon - :lon) < :radius ORDER BY d, id;
SELECT checksum, count(*) AS copies, group_concat(id) FROM photos WHERE checksum IS NOT NULL GROUP BY checksum HAVING count(*) > 1;
-- params: [{"hex": "00ab"}]
SELECT id FROM photos WHERE checksum = ?;
SELECT hex(checksum) AS sum FROM photos WHERE id = $album;
WITH RECURSIVE paths(id, path) AS (SELECT id, name FROM tags WHERE parent IS NULL UNION ALL SELECT t.id, paths.path || '|' || t.name FROM tags t, paths WHERE t.parent = paths.id) SELECT paths.path, count(pt.photo_id) FROM paths LEFT JOIN photo_tags pt ON pt.tag_id = paths.id GROUP BY paths.id ORDER BY paths.path;
-- params: ["Lisboa", "Ana"]
SELECT p.id FROM photos p WHERE p.id IN (SELECT photo_id FROM photo_tags JOIN tags ON tags.id = tag_id WHERE name = ?) AND p.id IN (SELECT photo_id FROM photo_tags JOIN tags ON tags.id = tag_id WHERE name = ?);
SELECT id, filename FROM photos WHERE id NOT IN (SELECT photo_id FROM photo_tags) ORDER BY filename COLLATE NOCASE;
SELECT a.id, a.title, count(ap.photo_id) AS n, coalesce(a.cover_id, min(ap.photo_id)) AS cover FROM albums a LEFT JOIN album_photos ap ON ap.album_id = a.id GROUP BY a.id ORDER BY a.created DESC;
SELECT p.id FROM album_photos ap JOIN photos p ON p.id = ap.photo_id JOIN albums a ON a.id = ap.album_id WHERE a.id = :album
ORDER BY CASE a.sort WHEN 'rating' THEN p.rating END DESC, CASE a.sort WHEN 'taken' THEN p.taken END, ap.position;
-- params: [0.6]
SELECT person, count(*) AS n, max(confidence) AS best FROM faces WHERE person IS NOT NULL AND confidence > ? GROUP BY person ORDER BY n DESC, person;
SELECT photo_id, round(sum(w * h) * 100, 1) AS covered FROM faces GROUP BY photo_id ORDER BY covered DESC;
-- params: ["jpg", "heic"]
SELECT id FROM photos WHERE lower(replace(filename, rtrim(filename, replace(filename, '.', '')), '')) IN (?, ?) ORDER BY id;
SELECT id, printf('%.1f MB', size / 1000000.0) AS shown FROM photos ORDER BY size DESC;
SELECT id, CASE WHEN exposure >= 1 THEN printf('%ds', exposure) ELSE printf('1/%d', round(1 / exposure)) END AS shutter FROM photos WHERE exposure > 0 ORDER BY id;
-- Bursts: photos within three seconds.
SELECT a.id, b.id FROM photos a JOIN photos b ON a.id < b.id AND abs(strftime('%s', a.taken) - strftime('%s', b.taken)) <= 3 ORDER BY 1, 2;
SELECT datetime(imported, 'unixepoch') AS imported FROM photos WHERE flags & 1 OR flags & 4 ORDER BY id;
-- params: ["dscf%", 1]
SELECT id, row_number() OVER (ORDER BY taken) - 1 AS place, count(*) OVER () AS total FROM photos WHERE filename LIKE ? ORDER BY taken LIMIT ?;
