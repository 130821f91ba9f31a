-- params: {"account": 1, "from": "2023-01-01", "to": "2023-03-01", "month": "2023-02"}
SELECT a.id, a.name, a.opening + ifnull(sum(e.amount), 0) AS balance FROM accounts a LEFT JOIN entries e ON e.account_id = a.id WHERE a.closed IS NULL GROUP BY a.id ORDER BY a.name;
SELECT a.name, (a.opening + coalesce((SELECT sum(amount) FROM entries WHERE account_id = a.id AND day <= :to), 0)) / 100.0 AS balance FROM accounts a WHERE a.currency = 'EUR' ORDER BY 1;
SELECT id, day, amount, sum(amount) OVER (ORDER BY day, id) + (SELECT opening FROM accounts WHERE id = :account) AS running FROM entries WHERE account_id = :account ORDER BY day, id;
-- params: ["2023-01-01", "2023-01-31"]
SELECT sum(CASE WHEN amount > 0 THEN amount ELSE 0 END) AS income, sum(CASE WHEN amount < 0 THEN -amount ELSE 0 END) AS spent FROM entries WHERE transfer_id IS NULL AND day BETWEEN ? AND ?;
SELECT strftime('%Y-%m', day) AS month, sum(amount) / 100.0 AS net FROM entries WHERE transfer_id IS NULL AND day >= $from GROUP BY month ORDER BY month;
SELECT c.name, sum(x.amount) AS total FROM (SELECT category_id, amount, day FROM entries WHERE category_id IS NOT NULL UNION ALL SELECT s.category_id, s.amount, e.day FROM splits s JOIN entries e ON e.id = s.entry_id) x JOIN categories c ON c.id = x.category_id WHERE x.day >= :from AND x.day < :to GROUP BY c.id ORDER BY total, c.name;
WITH spent AS (SELECT category_id, -sum(amount) AS n FROM entries WHERE substr(day, 1, 7) = :month GROUP BY category_id)
SELECT c.name, b.amount AS budget, ifnull(s.n, 0) AS spent, b.amount - ifnull(s.n, 0) AS left FROM budgets b JOIN categories c ON c.id = b.category_id LEFT JOIN spent s ON s.category_id = b.category_id WHERE b.month = :month ORDER BY c.name;
WITH RECURSIVE up(id, root, path) AS (SELECT id, id, name FROM categories WHERE parent_id IS NULL UNION ALL SELECT c.id, up.root, up.path || ':' || c.name FROM categories c JOIN up ON up.id = c.parent_id) SELECT path FROM up ORDER BY path;
WITH RECURSIVE months(m) AS (SELECT date(:from) UNION ALL SELECT date(m, '+1 month') FROM months WHERE m < date(:from, '+3 months')) SELECT substr(m, 1, 7) AS month, ifnull(sum(e.amount), 0) AS net FROM months LEFT JOIN entries e ON e.day >= m AND e.day < date(m, '+1 month') GROUP BY m ORDER BY m;
-- params: ["cafÉ zoË", "market"]
SELECT id, name FROM payees WHERE name = ? OR name = ? ORDER BY id;
-- params: ["ca%", 5]
SELECT p.name, count(e.id) AS n, max(e.day) FROM payees p JOIN entries e ON e.payee_id = p.id WHERE p.name LIKE ? GROUP BY p.id ORDER BY n DESC LIMIT ?;
SELECT p.name, (SELECT category_id FROM entries WHERE payee_id = p.id AND category_id IS NOT NULL ORDER BY day DESC LIMIT 1) AS guess FROM payees p ORDER BY p.name;
-- params: [-5000, -4000]
SELECT id, abs(amount) AS amount FROM entries WHERE amount BETWEEN ? AND ?;
SELECT e.id, t.id FROM entries e JOIN entries t ON t.id = e.transfer_id AND t.amount = -e.amount WHERE e.amount < 0;
SELECT e.id FROM entries e JOIN splits s ON s.entry_id = e.id GROUP BY e.id HAVING sum(s.amount) <> e.amount;
SELECT round(amount / 100.0, 2) || ' ' || a.currency AS shown FROM entries e JOIN accounts a ON a.id = e.account_id ORDER BY e.id LIMIT 4;
SELECT printf('%,d', sum(abs(amount))) AS shown FROM entries;
SELECT kind, count(*), total(opening) FROM accounts GROUP BY kind ORDER BY kind;
SELECT h.symbol, h.quantity * p.close AS value, round((h.quantity * p.close - h.cost) / h.cost * 100, 2) AS gain FROM holdings h JOIN prices p ON p.symbol = h.symbol WHERE p.day = (SELECT max(day) FROM prices WHERE symbol = h.symbol) AND h.quantity <> 0 ORDER BY h.symbol;
-- params: ["ABC", "2023-02-28"]
SELECT close FROM prices WHERE symbol = ? AND day <= ? ORDER BY day DESC LIMIT 1;
SELECT day, close, close - lag(close) OVER w AS change, avg(close) OVER (ORDER BY day ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS mean FROM prices WHERE symbol = 'ABC' WINDOW w AS (ORDER BY day) ORDER BY day;
SELECT id, julianday(:to) - julianday(day) AS days FROM entries WHERE cleared = 0 AND account_id = :account ORDER BY days DESC;
-- params: {"q": "0.1%"}
SELECT id FROM entries WHERE memo LIKE '%' || replace(:q, '%', '\%') || '%' ESCAPE '\';
-- params: {"sort": "amount", "kind": null}
SELECT id FROM entries WHERE (:kind IS NULL OR cleared = :kind) AND account_id = :account ORDER BY CASE WHEN :sort = 'amount' THEN amount ELSE id END LIMIT 3;
SELECT (strftime('%m', day) + 2) / 3 AS quarter, sum(amount) FROM entries WHERE strftime('%Y', day) = '2023' GROUP BY quarter ORDER BY quarter;
