-- params: {"account": 1, "folder": 1, "now": 1701700000}
-- The list of a folder.
-- params: [1, 20, 0]
SELECT id, sender, subject, preview, date, flags FROM messages WHERE folder_id = ? ORDER BY date DESC, id DESC LIMIT ? OFFSET ?;
-- The next page, by keys.
-- params: [1, 1701432000, 9, 10]
SELECT id, subject, date FROM messages WHERE folder_id = ? AND (date, id) < (?, ?) ORDER BY date DESC, id DESC LIMIT ?;
-- params: [1]
SELECT f.id, f.name, ifnull(u.n, 0) AS unread FROM folders AS f LEFT JOIN unread u ON u.folder_id = f.id WHERE f.account_id = ?1 ORDER BY f.sort_order, f.name COLLATE NOCASE;
SELECT count(*) FROM messages m JOIN folders f ON f.id = m.folder_id WHERE f.account_id = :account AND m.flags & 1 = 0;
-- params: [4, 4]
SELECT id FROM messages WHERE (flags & ?) = ? ORDER BY id;
-- A tree of folders.
WITH RECURSIVE tree(id, path, depth) AS (
  SELECT id, name, 0 FROM folders WHERE parent_id IS NULL AND account_id = :account
  UNION ALL
  SELECT f.id, tree.path || '/' || f.name, tree.depth + 1 FROM folders f JOIN tree ON f.parent_id = tree.id)
SELECT id, path, depth FROM tree ORDER BY path;
-- params: ["%lunch%", "%lunch%"]
SELECT id FROM messages WHERE subject LIKE ? OR preview LIKE ? ORDER BY date;
-- params: ["100\\%", "\\"]
SELECT id, preview FROM messages WHERE preview LIKE ? || '%' ESCAPE '\' AND ? <> '';
-- params: ["WORK@EXAMPLE.COM"]
SELECT id, address, coalesce(display_name, address) AS shown FROM accounts WHERE address = ? LIMIT 1;
SELECT json_extract(settings, '$.sync.days') AS days FROM accounts WHERE id = @account;
SELECT id FROM accounts WHERE json_extract(settings, '$.sync.enabled') = 1;
SELECT t.id, t.subject, count(m.id) AS messages, sum(m.flags & 1 = 0) AS unread, max(m.date) AS latest
FROM threads t INNER JOIN messages m ON m.thread_id = t.id GROUP BY t.id HAVING unread > 0 ORDER BY latest DESC, t.id;
SELECT id FROM threads WHERE snoozed_until IS NOT NULL AND snoozed_until <= $now;
-- params: [3]
SELECT m.id, group_concat(l.name, ', ') FROM messages m JOIN message_labels ml ON ml.message_id = m.id JOIN labels l ON l.id = ml.label_id WHERE m.id = ? GROUP BY m.id;
-- params: ["finance"]
SELECT m.id, m.subject FROM messages m WHERE EXISTS (SELECT 1 FROM message_labels ml JOIN labels l ON l.id = ml.label_id WHERE ml.message_id = m.id AND l.name = ?) ORDER BY m.id;
-- params: ["leo%", "leo%", 5]
SELECT email, name FROM contacts WHERE email LIKE ? OR name LIKE ? ORDER BY times_used DESC, last_used DESC LIMIT ?;
SELECT a.filename, a.size FROM attachments a WHERE a.mime LIKE 'image/%' OR lower(a.filename) LIKE '%.png' OR lower(a.filename) GLOB '*.jp*g';
-- params: [{"hex": "0a1b2c"}]
SELECT id, filename FROM attachments WHERE content_hash = ? ORDER BY id;
SELECT strftime('%Y-%m', date, 'unixepoch') AS month, count(*) AS n, sum(size) AS bytes FROM messages GROUP BY month ORDER BY month DESC;
-- params: [1701302400, 1701475200]
SELECT date(date, 'unixepoch') AS day, count(*) FROM messages WHERE date >= ? AND date < ? GROUP BY 1 ORDER BY 1;
SELECT CASE WHEN instr(sender, '<') > 0 THEN trim(substr(sender, 1, instr(sender, '<') - 1)) ELSE sender END AS who, count(*) AS n
FROM messages WHERE sender IS NOT NULL GROUP BY who ORDER BY n DESC, who;
-- params: [1, 2, 3, 99]
SELECT id, message_id FROM messages WHERE id IN (?, ?, ?, ?) ORDER BY id;
SELECT id, subject FROM (SELECT id, subject, thread_id, row_number() OVER (PARTITION BY thread_id ORDER BY date DESC, id DESC) AS rn FROM messages) WHERE rn = 1 ORDER BY id;
SELECT m.id, p.id AS parent FROM messages m LEFT OUTER JOIN messages p ON p.message_id = m.in_reply_to WHERE m.thread_id = (SELECT thread_id FROM messages WHERE id = :folder) ORDER BY m.date, m.id;
-- params: {"search": null}
SELECT id, subject FROM messages WHERE (:search IS NULL OR subject LIKE '%' || :search || '%') AND folder_id = :folder ORDER BY id;
