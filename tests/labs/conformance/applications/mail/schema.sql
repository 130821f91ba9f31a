CREATE TABLE accounts (id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL UNIQUE COLLATE NOCASE, display_name TEXT, settings TEXT NOT NULL DEFAULT '{}');
CREATE TABLE folders (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL REFERENCES accounts(id) ON DELETE CASCADE, parent_id INTEGER REFERENCES folders(id), name TEXT NOT NULL, role TEXT, sort_order INTEGER NOT NULL DEFAULT 0);
CREATE TABLE threads (id INTEGER PRIMARY KEY, subject TEXT, last_date INTEGER NOT NULL, snoozed_until INTEGER);
CREATE TABLE messages (id INTEGER PRIMARY KEY, thread_id INTEGER NOT NULL REFERENCES threads(id), folder_id INTEGER NOT NULL REFERENCES folders(id), message_id TEXT NOT NULL, sender TEXT, recipients TEXT, subject TEXT, preview TEXT, date INTEGER NOT NULL, size INTEGER NOT NULL DEFAULT 0, flags INTEGER NOT NULL DEFAULT 0, in_reply_to TEXT);
CREATE TABLE attachments (id INTEGER PRIMARY KEY, message_id INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE, filename TEXT, mime TEXT, size INTEGER, content_hash BLOB);
CREATE TABLE labels (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, color TEXT);
CREATE TABLE message_labels (message_id INTEGER NOT NULL, label_id INTEGER NOT NULL, PRIMARY KEY (message_id, label_id)) WITHOUT ROWID;
CREATE TABLE contacts (id INTEGER PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE, name TEXT, times_used INTEGER NOT NULL DEFAULT 0, last_used INTEGER);
CREATE INDEX messages_by_folder ON messages(folder_id, date DESC);
CREATE INDEX messages_unread ON messages(folder_id) WHERE flags & 1 = 0;
CREATE VIEW unread AS SELECT folder_id, count(*) AS n FROM messages WHERE flags & 1 = 0 GROUP BY folder_id;
INSERT INTO accounts VALUES (1, 'ines@example.org', 'Inês', '{"signature":"Greetings","sync":{"days":30,"enabled":true}}'), (2, 'Work@Example.com', NULL, '{"sync":{"days":7,"enabled":false}}');
INSERT INTO folders VALUES (1, 1, NULL, 'INBOX', 'inbox', 0), (2, 1, NULL, 'Sent', 'sent', 1), (3, 1, NULL, 'Archive', 'archive', 2), (4, 1, 3, '2023', NULL, 0), (5, 1, 4, 'Travel', NULL, 0), (6, 2, NULL, 'INBOX', 'inbox', 0), (7, 2, NULL, 'Trash', 'trash', 9);
INSERT INTO threads VALUES (1, 'Invoice 2023-11', 1701345600, NULL), (2, 'Lunch?', 1701432000, 1701600000), (3, 'Re: Quarterly report', 1701518400, NULL), (4, 'Your flight', 1690000000, NULL), (5, NULL, 1701604800, NULL);
INSERT INTO messages VALUES
 (1, 1, 1, '<a1@x>', 'billing@shop.example', 'ines@example.org', 'Invoice 2023-11', 'Please find attached', 1701259200, 48213, 1, NULL),
 (2, 1, 2, '<a2@x>', 'ines@example.org', 'billing@shop.example', 'Re: Invoice 2023-11', 'Thanks, paid', 1701345600, 2100, 1, '<a1@x>'),
 (3, 2, 1, '<b1@x>', 'Jonas <jonas@friends.example>', 'ines@example.org, leo@friends.example', 'Lunch?', 'Tomorrow at 12:30?', 1701425000, 900, 0, NULL),
 (4, 2, 1, '<b2@x>', 'leo@friends.example', 'ines@example.org', 'Re: Lunch?', '100% yes', 1701432000, 750, 4, '<b1@x>'),
 (5, 3, 6, '<c1@x>', 'boss@example.com', 'work@example.com', 'Quarterly report', 'Numbers_final attached', 1701500000, 1048576, 5, NULL),
 (6, 3, 6, '<c2@x>', 'work@example.com', 'boss@example.com', 'Re: Quarterly report', NULL, 1701518400, 3400, 1, '<c1@x>'),
 (7, 4, 5, '<d1@x>', 'noreply@airline.example', 'ines@example.org', 'Your flight', 'Boarding at gate 7', 1690000000, 60500, 3, NULL),
 (8, 5, 7, '<e1@x>', NULL, 'work@example.com', NULL, NULL, 1701604800, 0, 0, NULL),
 (9, 2, 1, '<b3@x>', 'Jonas <jonas@friends.example>', 'ines@example.org', 'Re: Lunch?', 'Great', 1701432000, 640, 2, '<b2@x>');
INSERT INTO attachments VALUES (1, 1, 'invoice.pdf', 'application/pdf', 45000, x'0a1b2c'), (2, 5, 'report.xlsx', 'application/vnd.ms-excel', 900000, x'ffee00'), (3, 5, 'Chart.PNG', 'image/png', 120000, NULL), (4, 7, 'boarding.pdf', 'application/pdf', 52000, x'0a1b2c');
INSERT INTO labels VALUES (1, 'Finance', '#00aa00'), (2, 'friends', '#3366ff'), (3, 'Travel', NULL);
INSERT INTO message_labels VALUES (1, 1), (2, 1), (3, 2), (4, 2), (7, 3), (7, 1);
INSERT INTO contacts VALUES (1, 'jonas@friends.example', 'Jonas', 12, 1701425000), (2, 'LEO@friends.example', 'Léo', 3, 1701432000), (3, 'boss@example.com', NULL, 40, NULL), (4, 'noreply@airline.example', '', 0, NULL);
