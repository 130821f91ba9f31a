CREATE TABLE artists (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, sort_name TEXT, mbid TEXT);
CREATE TABLE albums (id INTEGER PRIMARY KEY, artist_id INTEGER REFERENCES artists(id), title TEXT, year INTEGER, art BLOB, compilation INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tracks (id INTEGER PRIMARY KEY, album_id INTEGER REFERENCES albums(id), artist_id INTEGER, title TEXT, disc INTEGER DEFAULT 1, number INTEGER, length REAL, bitrate INTEGER, genre TEXT, path TEXT UNIQUE, mtime REAL, gain NUMERIC);
CREATE TABLE plays (track_id INTEGER NOT NULL, at TEXT NOT NULL, skipped INTEGER NOT NULL DEFAULT 0);
CREATE TABLE playlists (id INTEGER PRIMARY KEY, name TEXT NOT NULL, rule TEXT);
CREATE TABLE playlist_tracks (playlist_id INTEGER, track_id INTEGER, position INTEGER, UNIQUE (playlist_id, position));
CREATE TABLE ratings (track_id INTEGER PRIMARY KEY, stars REAL);
INSERT INTO artists VALUES (1, 'The Larks', 'Larks, The', 'm-1'), (2, 'Björk Trio', NULL, NULL), (3, 'aria', 'aria', 'm-3'), (4, 'Various Artists', NULL, NULL);
INSERT INTO albums VALUES (1, 1, 'Morning', 1998, NULL, 0), (2, 1, 'Evening', 2004, x'89504e47', 0), (3, 2, 'Ísland', NULL, NULL, 0), (4, 4, 'Hits', 2010, NULL, 1);
INSERT INTO tracks VALUES
 (1, 1, 1, 'Dawn', 1, 1, 201.5, 320, 'Folk', '/m/larks/morning/01.mp3', 1600000000.1, -6.5), (2, 1, 1, 'Dew', 1, 2, 185.0, 320, 'Folk', '/m/larks/morning/02.mp3', 1600000001.2, -7), (3, 1, 1, 'Light', 2, 1, 333.3, 256, 'Folk; Rock', '/m/larks/morning/2-01.mp3', 1600000002.0, NULL),
 (4, 2, 1, 'Dusk', 1, 1, 245.75, 192, 'Rock', '/m/larks/evening/01.ogg', 1600100000.0, -5.25), (5, 2, 1, NULL, 1, 2, 60.0, 192, NULL, '/m/larks/evening/02.ogg', 1600100001.0, 0), (6, 3, 2, 'Hvítt', 1, 1, 410.0, 900, 'Ambient', '/m/björk/01.flac', 1650000000.0, -3.75),
 (7, 4, 3, 'Dawn (live)', 1, 1, 222.0, 128, 'rock', '/m/va/01.mp3', 1660000000.0, -9), (8, 4, 1, 'dawn', 1, 2, 199.0, 128, 'Pop', '/m/va/02.mp3', 1660000001.0, -9.5);
INSERT INTO plays VALUES (1, '2023-11-01 08:00:00', 0), (1, '2023-11-01 20:00:00', 0), (2, '2023-11-02 08:00:00', 1), (4, '2023-11-05 09:15:00', 0), (6, '2023-11-05 22:00:00', 0), (1, '2023-12-01 07:30:00', 0), (7, '2023-12-24 18:00:00', 1), (6, '2023-12-31 23:59:59', 0);
INSERT INTO playlists VALUES (1, 'Run', NULL), (2, 'Calm', '{"genre":"Ambient","max":400}'), (3, 'run 2', NULL);
INSERT INTO playlist_tracks VALUES (1, 4, 1), (1, 7, 2), (1, 4, 3), (2, 6, 1);
INSERT INTO ratings VALUES (1, 4.5), (4, 3.0), (6, 5.0), (7, 1.5);
