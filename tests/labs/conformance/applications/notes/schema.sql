CREATE TABLE notebooks (id TEXT PRIMARY KEY, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, icon TEXT);
CREATE TABLE notes (id TEXT PRIMARY KEY, parent_id TEXT NOT NULL DEFAULT '', title TEXT NOT NULL DEFAULT '', body TEXT NOT NULL DEFAULT '', created_time INT NOT NULL, updated_time INT NOT NULL, is_todo INT NOT NULL DEFAULT 0, todo_due INT NOT NULL DEFAULT 0, todo_completed INT NOT NULL DEFAULT 0, pinned INT NOT NULL DEFAULT 0, "order" NUMERIC NOT NULL DEFAULT 0, latitude NUMERIC NOT NULL DEFAULT 0, deleted_time INT NOT NULL DEFAULT 0);
CREATE TABLE tags (id TEXT PRIMARY KEY, title TEXT NOT NULL);
CREATE TABLE note_tags (id TEXT PRIMARY KEY, note_id TEXT NOT NULL, tag_id TEXT NOT NULL);
CREATE TABLE resources (id TEXT PRIMARY KEY, title TEXT, mime TEXT NOT NULL, size INT NOT NULL DEFAULT -1, blob_md5 BLOB);
CREATE TABLE note_resources (note_id TEXT, resource_id TEXT, is_associated INT);
CREATE TABLE revisions (id INTEGER PRIMARY KEY, item_id TEXT NOT NULL, diff TEXT, created_time INT);
CREATE TABLE settings (`key` TEXT PRIMARY KEY, `value` TEXT);
INSERT INTO settings VALUES ('sort.field', 'updated_time'), ('sort.reverse', '1'), ('font.size', '14'), ('theme', NULL);
INSERT INTO notebooks VALUES ('b1', '', 'Home', 1600000000000, '{"emoji":"🏠"}'), ('b2', '', 'Work', 1600000001000, ''), ('b3', 'b1', 'Recipes', 1600000002000, NULL), ('b4', 'b3', 'Soups', 1600000003000, NULL);
INSERT INTO notes VALUES
 ('n1', 'b1', 'Shopping', '- [ ] milk
- [x] eggs', 1700000000000, 1700100000000, 1, 1700200000000, 0, 1, 1, 0, 0),
 ('n2', 'b4', 'Caldo verde', 'Kale, potatoes. See [Shopping](:/n1)', 1690000000000, 1690000000000, 0, 0, 0, 0, 2.5, 38.7, 0),
 ('n3', 'b2', 'Meeting 10', 'agenda', 1700300000000, 1700310000000, 0, 0, 0, 0, 3, 0, 0),
 ('n4', 'b2', 'meeting 9', '', 1700200000000, 1700210000000, 0, 0, 0, 0, 4, 0, 0),
 ('n5', 'b2', 'Taxes', 'Ask: 20% or 25_%?', 1650000000000, 1650000000001, 1, 1699000000000, 1698000000000, 0, 0, 0, 0),
 ('n6', '', 'Lost', 'conflict', 1650000000000, 1650000000000, 0, 0, 0, 0, 0, 0, 0),
 ('n7', 'b1', 'Trash me', 'x', 1650000000000, 1650000000000, 0, 0, 0, 0, 0, 0, 1700000000000);
INSERT INTO tags VALUES ('t1', 'food'), ('t2', 'urgent'), ('t3', 'Empty');
INSERT INTO note_tags VALUES ('x1', 'n1', 't1'), ('x2', 'n2', 't1'), ('x3', 'n1', 't2'), ('x4', 'n5', 't2');
INSERT INTO resources VALUES ('r1', 'soup.jpg', 'image/jpeg', 120000, x'd41d8cd98f00b204'), ('r2', NULL, 'application/pdf', -1, NULL);
INSERT INTO note_resources VALUES ('n2', 'r1', 1), ('n5', 'r2', 0);
INSERT INTO revisions VALUES (1, 'n1', '@@ -1 +1 @@', 1700050000000), (2, 'n1', '@@ -2 +2 @@', 1700060000000), (3, 'n3', NULL, 1700305000000);
