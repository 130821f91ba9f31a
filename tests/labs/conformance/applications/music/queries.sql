-- params: {"artist": 1, "playlist": 1, "since": "2023-11-01", "q": "dawn"}
SELECT t.id, t.title, a.name AS artist, al.title AS album FROM tracks t LEFT JOIN artists a ON a.id = t.artist_id LEFT JOIN albums al ON al.id = t.album_id WHERE t.title LIKE :q || '%' ORDER BY t.title COLLATE NOCASE, t.id;
SELECT al.id, al.title, al.year, count(t.id) AS tracks, sum(t.length) AS length FROM albums al JOIN tracks t ON t.album_id = al.id WHERE al.artist_id = :artist GROUP BY al.id ORDER BY al.year IS NULL, al.year;
-- params: [1]
SELECT id, coalesce(title, 'Track ' || number) AS title FROM tracks WHERE album_id = ? ORDER BY disc, number;
SELECT CAST(length / 60 AS INTEGER) || ':' || substr('0' || CAST(length AS INTEGER) % 60, -2) AS shown FROM tracks ORDER BY id;
SELECT printf('%d:%02d', CAST(length AS INTEGER) / 60, CAST(length AS INTEGER) % 60) FROM tracks ORDER BY id;
SELECT name FROM artists ORDER BY coalesce(sort_name, name) COLLATE NOCASE;
SELECT upper(substr(name, 1, 1)) AS letter, count(*) FROM artists GROUP BY letter ORDER BY letter;
SELECT t.id, count(p.track_id) AS plays, max(p.at) AS latest FROM tracks t LEFT JOIN plays p ON p.track_id = t.id AND p.skipped = 0 GROUP BY t.id ORDER BY plays DESC, latest DESC, t.id LIMIT 5;
SELECT track_id, count(*) AS n FROM plays WHERE at >= @since AND at < date(@since, '+1 month') GROUP BY track_id ORDER BY n DESC, track_id;
SELECT strftime('%w', at) AS weekday, count(*) FROM plays GROUP BY weekday ORDER BY weekday;
SELECT t.id FROM tracks t WHERE NOT EXISTS (SELECT 1 FROM plays p WHERE p.track_id = t.id) ORDER BY t.id;
SELECT t.title FROM playlist_tracks pt JOIN tracks t ON t.id = pt.track_id WHERE pt.playlist_id = :playlist ORDER BY pt.position;
-- params: [1, 1]
SELECT coalesce(max(position), 0) + ? FROM playlist_tracks WHERE playlist_id = ?;
-- params: ["run%"]
SELECT id, name FROM playlists WHERE name LIKE ? ORDER BY lower(name);
SELECT p.id, count(t.id) AS n, ifnull(round(sum(t.length) / 60.0), 0) AS minutes FROM playlists p LEFT JOIN playlist_tracks pt ON pt.playlist_id = p.id LEFT JOIN tracks t ON t.id = pt.track_id GROUP BY p.id ORDER BY p.id;
SELECT t.id FROM tracks t, playlists p WHERE p.id = 2 AND t.genre = json_extract(p.rule, '$.genre') AND t.length > json_extract(p.rule, '$.max');
-- params: ["rock", "rock;%", "%; rock", "%; rock;%"]
SELECT id FROM tracks WHERE genre LIKE ? OR genre LIKE ? OR genre LIKE ? OR genre LIKE ? ORDER BY id;
SELECT lower(genre) AS g, count(*) AS n, avg(bitrate) AS rate FROM tracks WHERE genre IS NOT NULL GROUP BY g ORDER BY n DESC, g;
-- params: [4.0]
SELECT t.id, r.stars FROM tracks t JOIN ratings r ON r.track_id = t.id WHERE r.stars >= ? ORDER BY r.stars DESC;
-- params: ["/m/larks/"]
SELECT id, mtime FROM tracks WHERE path >= ?1 AND path < ?1 || '~' ORDER BY path;
-- params: ["/m/larks/*"]
SELECT max(mtime), count(*) FROM tracks WHERE path GLOB ?;
SELECT id, title, rank() OVER (PARTITION BY album_id ORDER BY length DESC) AS place FROM tracks ORDER BY album_id, place, id;
SELECT al.title, length(al.art) > 0 AS has_art FROM albums al ORDER BY al.compilation, al.title;
SELECT a.name, (SELECT group_concat(title, ' / ') FROM (SELECT title FROM albums WHERE artist_id = a.id ORDER BY year)) AS albums FROM artists a WHERE a.name = 'THE LARKS' OR a.name LIKE 'aria' ORDER BY a.name;
-- params: [-6.0, 2]
SELECT id, gain FROM tracks WHERE gain < ? ORDER BY gain, id LIMIT ?;
