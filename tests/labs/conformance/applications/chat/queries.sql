-- params: {"me": 1, "conversation": 2, "day": 86400000}
SELECT c._id, coalesce(c.title, (SELECT u.profile_name FROM members m JOIN users u ON u._id = m.user_id WHERE m.conversation_id = c._id AND m.user_id <> :me)) AS title,
  (SELECT body FROM messages WHERE conversation_id = c._id AND deleted = 0 ORDER BY sent_at DESC LIMIT 1) AS snippet,
  (SELECT max(sent_at) FROM messages WHERE conversation_id = c._id) AS latest
FROM conversations c WHERE c.archived = 0 ORDER BY c.pinned DESC, latest DESC;
SELECT c._id, count(m._id) AS unread FROM conversations c JOIN members me ON me.conversation_id = c._id AND me.user_id = :me
LEFT JOIN messages m ON m.conversation_id = c._id AND m._id > me.last_read_id AND m.author_id IS NOT :me AND NOT m.deleted GROUP BY c._id ORDER BY c._id;
-- params: [2, 1700010400000, 3]
SELECT _id, body FROM messages WHERE conversation_id = ? AND sent_at < ? ORDER BY sent_at DESC LIMIT ?;
-- params: [2, 7, 2, 7]
SELECT * FROM (SELECT _id, body FROM messages WHERE conversation_id = ? AND _id <= ? ORDER BY _id DESC LIMIT 2)
UNION ALL SELECT * FROM (SELECT _id, body FROM messages WHERE conversation_id = ? AND _id > ? ORDER BY _id LIMIT 2) ORDER BY 1;
SELECT emoji, count(*) AS n, group_concat(user_id) AS who, max(user_id = :me) AS mine FROM (SELECT * FROM reactions ORDER BY at) WHERE message_id = 6 GROUP BY emoji ORDER BY n DESC;
-- params: ["%50\\%%"]
SELECT _id FROM messages WHERE body LIKE ? ESCAPE '\';
-- params: ["ana"]
SELECT _id, profile_name FROM users WHERE profile_name = ? COLLATE NOCASE ORDER BY _id;
SELECT _id, profile_name FROM users WHERE profile_name IS NOT NULL AND _id != $me ORDER BY profile_name COLLATE NOCASE ASC, _id;
SELECT _id, ifnull(nullif(phone, ''), uuid) AS handle FROM users ORDER BY handle;
-- params: [1700000000]
SELECT _id FROM users WHERE blocked = 0 AND (mute_until = 0 OR mute_until < ?) ORDER BY _id;
SELECT strftime('%Y-%m-%d', sent_at / 1000, 'unixepoch') AS day, count(*) FROM messages WHERE conversation_id = :conversation GROUP BY day;
SELECT strftime('%H', sent_at / 1000, 'unixepoch') AS hour, count(*) AS n FROM messages GROUP BY hour ORDER BY n DESC, hour LIMIT 3;
SELECT _id, datetime(sent_at / 1000, 'unixepoch') AS at FROM messages WHERE sent_at >= 1700500000000 ORDER BY _id;
SELECT avg(received_at - sent_at) AS delay, max(received_at - sent_at) FROM messages WHERE received_at IS NOT NULL AND conversation_id = :conversation;
SELECT m._id, m.body, q.body AS quoted, u.profile_name FROM messages m JOIN messages q ON q._id = m.quote_id LEFT JOIN users u ON u._id = q.author_id ORDER BY m._id;
SELECT json_extract(extra, '$.duration') FROM messages WHERE type = 2;
SELECT m._id FROM messages m, json_each(m.extra, '$.mentions') j WHERE j.value = 2;
-- params: ["image/%", 10]
SELECT me._id, me.width * 1.0 / me.height AS ratio, length(me.thumb) AS thumb FROM media me JOIN messages m ON m._id = me.message_id WHERE me.mime LIKE ? AND m.deleted = 0 ORDER BY m.sent_at DESC, me._id LIMIT ?;
SELECT substr(mime, 1, instr(mime, '/') - 1) AS kind, sum(bytes) AS total, count(*) FROM media GROUP BY kind ORDER BY total DESC;
SELECT user_id, role FROM members WHERE conversation_id = :conversation ORDER BY CASE role WHEN 'admin' THEN 0 ELSE 1 END, user_id;
SELECT conversation_id FROM members WHERE user_id IN (1, 2) GROUP BY conversation_id HAVING count(DISTINCT user_id) = 2 ORDER BY 1;
-- Gaps of more than a day between messages.
SELECT _id, gap FROM (SELECT _id, sent_at - lag(sent_at) OVER (PARTITION BY conversation_id ORDER BY sent_at) AS gap FROM messages) WHERE gap > :day OR gap IS NULL ORDER BY _id;
SELECT _id FROM conversations WHERE draft IS NOT NULL AND draft <> '' UNION SELECT _id FROM conversations WHERE pinned ORDER BY _id;
SELECT expires_in / 86400 || ' days' FROM conversations WHERE expires_in > 0;
-- params: ["2023-10-01", "+1 month"]
SELECT _id, date(created_at) FROM conversations WHERE created_at >= ? AND created_at < date('2023-10-01', ?) ORDER BY _id;
