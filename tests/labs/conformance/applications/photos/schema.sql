CREATE TABLE folders (id INTEGER PRIMARY KEY, path TEXT UNIQUE, parent INTEGER);
CREATE TABLE photos (id INTEGER PRIMARY KEY, folder_id INTEGER REFERENCES folders(id), filename TEXT NOT NULL, taken TEXT, imported REAL, rating INTEGER CHECK (rating BETWEEN 0 AND 5), orientation INTEGER, width INTEGER, height INTEGER, size INTEGER, camera_id INTEGER, lens TEXT, focal REAL, aperture REAL, iso INTEGER, exposure REAL, lat REAL, lon REAL, checksum BLOB, flags INTEGER DEFAULT 0);
CREATE TABLE cameras (id INTEGER PRIMARY KEY, maker TEXT, model TEXT);
CREATE TABLE tags (id INTEGER PRIMARY KEY, parent INTEGER, name TEXT NOT NULL, UNIQUE (parent, name));
CREATE TABLE photo_tags (photo_id INTEGER, tag_id INTEGER, PRIMARY KEY (photo_id, tag_id));
CREATE TABLE albums (id INTEGER PRIMARY KEY, title TEXT, cover_id INTEGER, sort TEXT DEFAULT 'taken', created DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE album_photos (album_id INTEGER, photo_id INTEGER, position INTEGER);
CREATE TABLE faces (id INTEGER PRIMARY KEY, photo_id INTEGER, person TEXT, x REAL, y REAL, w REAL, h REAL, confidence REAL);
INSERT INTO folders VALUES (1, '/photos', NULL), (2, '/photos/2022', 1), (3, '/photos/2023', 1), (4, '/photos/2023/Lisboa', 3);
INSERT INTO cameras VALUES (1, 'Fujifilm', 'X-T3'), (2, 'Apple', 'iPhone 13'), (3, NULL, 'Scanner');
INSERT INTO photos VALUES
 (1, 2, 'DSCF0001.JPG', '2022-05-01T10:20:30', 1651500000.25, 3, 1, 6240, 4160, 9500000, 1, 'XF 23mm', 23.0, 2.0, 200, 0.004, 48.137, 11.575, x'00aa', 0),
 (2, 2, 'DSCF0002.RAF', '2022-05-01T10:20:31', 1651500001.5, 5, 1, 6240, 4160, 55000000, 1, 'XF 23mm', 23.0, 5.6, 160, 0.001, 48.137, 11.575, x'00ab', 1),
 (3, 3, 'IMG_0100.HEIC', '2023-01-15T18:00:00', 1673900000.0, 0, 6, 4032, 3024, 2100000, 2, NULL, 5.1, 1.6, 800, 0.033, NULL, NULL, x'00ac', 0),
 (4, 4, 'IMG_0200.jpg', '2023-06-10T09:00:00', 1686400000.0, 4, 1, 4032, 3024, 3300000, 2, NULL, 5.1, 1.6, 50, 0.0005, 38.722, -9.139, x'00ad', 0),
 (5, 4, 'IMG_0201.jpg', '2023-06-10T09:00:02', 1686400002.0, 4, 1, 4032, 3024, 3310000, 2, NULL, 5.1, 1.6, 50, 0.0005, 38.7221, -9.1391, x'00ad', 2),
 (6, 4, 'scan 1.tif', NULL, 1690000000.0, NULL, NULL, 2000, 1000, 12000000, 3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0),
 (7, 1, 'panorama.jpg', '2021-12-31T23:59:59', 1640995200.0, 2, 1, 12000, 3000, 15000000, 1, 'XF 14mm', 14.0, 8.0, 400, 0.01, 60.0, 10.75, x'00ae', 4);
INSERT INTO tags VALUES (1, NULL, 'places'), (2, 1, 'Lisboa'), (3, 1, 'München'), (4, NULL, 'people'), (5, 4, 'Ana'), (6, NULL, '_trash');
INSERT INTO photo_tags VALUES (1, 3), (2, 3), (4, 2), (5, 2), (4, 5), (6, 6);
INSERT INTO albums VALUES (1, 'Best', 2, 'rating', '2023-07-01 10:00:00'), (2, 'Lisboa', NULL, 'taken', '2023-07-02 10:00:00'), (3, 'Empty', NULL, 'position', '2023-07-03 10:00:00');
INSERT INTO album_photos VALUES (1, 2, 0), (1, 4, 1), (2, 5, 0), (2, 4, 1), (2, 7, 2);
INSERT INTO faces VALUES (1, 4, 'Ana', 0.1, 0.2, 0.3, 0.4, 0.98), (2, 5, 'Ana', 0.15, 0.2, 0.3, 0.4, 0.55), (3, 5, NULL, 0.6, 0.1, 0.1, 0.12, 0.71), (4, 2, 'Tom', 0.4, 0.4, 0.2, 0.2, 0.9);
