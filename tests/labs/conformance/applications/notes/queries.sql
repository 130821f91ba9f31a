-- params: {"notebook": "b2", "now": 1700400000000, "tag": "t1"}
-- params: ["b1", 0]
SELECT id, title, updated_time FROM notes WHERE parent_id = ? AND deleted_time = ? ORDER BY pinned DESC, updated_time DESC, id;
SELECT `id`, `title` FROM `notes` WHERE `parent_id` = :notebook ORDER BY `title` COLLATE NOCASE ASC;
SELECT id FROM notes WHERE deleted_time = 0 AND is_todo = 1 AND todo_completed = 0 AND todo_due > 0 AND todo_due < :now ORDER BY todo_due;
SELECT n.id, n.title FROM notes n INNER JOIN note_tags nt ON nt.note_id = n.id WHERE nt.tag_id = :tag ORDER BY n."order" DESC, n.id;
SELECT t.id, t.title, count(nt.id) AS note_count FROM tags t LEFT JOIN note_tags nt ON nt.tag_id = t.id GROUP BY t.id HAVING note_count > 0 ORDER BY t.title;
SELECT n.id, (SELECT group_concat(title, ',') FROM (SELECT t.title FROM tags t JOIN note_tags nt ON t.id = nt.tag_id WHERE nt.note_id = n.id ORDER BY t.title)) AS tags FROM notes n WHERE n.is_todo ORDER BY n.id;
-- params: ["%soup%", "%kale%"]
SELECT id FROM notes WHERE title LIKE ? OR body LIKE ? ORDER BY id;
-- params: ["\\_%"]
SELECT id FROM notes WHERE body LIKE '%' || ? || '%' ESCAPE '\';
-- params: ["b1"]
WITH RECURSIVE sub(id, depth) AS (SELECT id, 0 FROM notebooks WHERE id = ? UNION SELECT b.id, sub.depth + 1 FROM notebooks b JOIN sub ON b.parent_id = sub.id) SELECT sub.id, depth, count(n.id) AS notes FROM sub LEFT JOIN notes n ON n.parent_id = sub.id AND n.deleted_time = 0 GROUP BY sub.id, depth ORDER BY depth, sub.id;
-- params: ["n1"]
SELECT id, title FROM notes WHERE instr(body, '(:/' || ? || ')') > 0;
SELECT id, length(body) AS n, length(body) - length(replace(body, '- [ ]', '')) AS open FROM notes ORDER BY n DESC, id LIMIT 2;
SELECT strftime('%Y-%m-%d %H:%M', updated_time / 1000, 'unixepoch') AS shown FROM notes WHERE id IN ('n1', 'n5') ORDER BY id;
SELECT date(created_time / 1000, 'unixepoch', 'start of month') AS month, count(*) AS n FROM notes GROUP BY month ORDER BY month;
-- params: ["sort.field", "font.size"]
SELECT `key`, `value` FROM settings WHERE `key` IN (?, ?) ORDER BY `key`;
-- params: [10, "font.size"]
SELECT max(CAST(value AS INT), ?) FROM settings WHERE key = ?;
SELECT ifnull((SELECT value FROM settings WHERE key = 'theme'), 'light') AS theme;
SELECT id FROM notes WHERE parent_id NOT IN (SELECT id FROM notebooks);
SELECT b.id, b.title, (SELECT count(*) FROM notes WHERE parent_id = b.id AND deleted_time = 0) AS n FROM notebooks AS b ORDER BY n DESC, b.title;
SELECT json_extract(icon, '$.emoji') FROM notebooks WHERE icon IS NOT NULL AND icon <> '';
SELECT item_id, count(*), max(created_time) FROM revisions GROUP BY item_id ORDER BY item_id;
-- params: [1700055000000]
SELECT r.id FROM revisions r WHERE r.created_time < ? OR r.id NOT IN (SELECT max(id) FROM revisions GROUP BY item_id) ORDER BY r.id;
SELECT r.id, ifnull(r.title, r.id) AS name, CASE WHEN r.size < 0 THEN 'unknown' ELSE (r.size / 1024) || ' KB' END AS size FROM resources r ORDER BY r.id;
SELECT lower(hex(blob_md5)) AS md5 FROM resources WHERE blob_md5 NOT NULL;
-- params: [2, 1]
SELECT id FROM notes WHERE deleted_time = 0 ORDER BY updated_time DESC, title ASC LIMIT ? OFFSET ?;
-- params: [2.0, 3]
SELECT id, "order" FROM notes WHERE "order" >= ? AND "order" <= ? ORDER BY "order";
