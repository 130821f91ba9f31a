"""A made-up schema, and queries about it, for the tests of twins."""

SCRIPT = """
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, founded DATE);
CREATE TABLE customer (
  id INTEGER PRIMARY KEY, name TEXT, city_id INTEGER REFERENCES city (id), born TEXT, points REAL, level TEXT
);
CREATE TABLE "order line" (
  customer_id INTEGER NOT NULL REFERENCES customer (id), number INTEGER NOT NULL, product TEXT, price REAL,
  amount INTEGER, sent TEXT, PRIMARY KEY (customer_id, number)
);
CREATE INDEX by_product ON "order line" (product);
CREATE VIEW gold_customer AS SELECT * FROM customer WHERE level = 'gold';
INSERT INTO city VALUES (1, 'Aldon', '1201-04-03'), (2, 'Brem', '1544-01-30'), (3, 'Corl', NULL);
INSERT INTO customer VALUES
  (1, 'Ada Moor', 1, '1970-01-05', 12.5, 'gold'), (2, 'Ben Lyle', 1, '1985-11-23', 99.0, 'blue'),
  (3, 'Cyd Moor', 2, '1992-07-14', NULL, 'gold'), (4, 'Dan Pike', 3, NULL, 7.25, NULL),
  (5, 'Eva Lyle', 2, '2001-03-09', 42.0, 'blue'), (6, 'Fay Reed', 1, '1964-12-31', 3.5, 'red');
INSERT INTO "order line" VALUES
  (1, 1, 'lamp', 19.5, 2, '2019-05-04 10:00:00'), (1, 2, 'rope', 4.0, 10, '2019-06-01 12:30:00'),
  (2, 1, 'lamp', 21.0, 1, '2020-01-01 08:15:00'), (3, 1, 'kettle', 33.0, 1, NULL),
  (5, 1, 'rope', 4.5, 3, '2020-02-29 23:59:59'), (6, 1, 'tent', 120.0, 1, '2018-08-08 00:00:00');
"""

GOLDS = {
    "equal": "SELECT name FROM customer WHERE level = 'silver'",
    "several": "SELECT name FROM customer WHERE level = 'gold' AND points > 250 AND born < '1950-01-01'",
    "like": "SELECT id FROM customer WHERE name LIKE 'Zor%'",
    "year": "SELECT COUNT(*) FROM customer WHERE STRFTIME('%Y', born) = '1933'",
    "month": "SELECT name FROM customer WHERE born LIKE '1931-06%'",
    "substring": "SELECT product FROM \"order line\" WHERE SUBSTR(sent, 1, 7) = '2031-02'",
    "between": 'SELECT product FROM "order line" WHERE price BETWEEN 777 AND 778 AND amount IN (41, 43)',
    "join": "SELECT T1.name FROM customer AS T1 INNER JOIN city AS T2 ON T1.city_id = T2.id "
    "WHERE T2.name = 'Xul'",
    "three tables": "SELECT T1.name FROM city AS T1 JOIN customer AS T2 "
    'ON T1.id = T2.city_id JOIN "order line" AS T3 '
    "ON T3.customer_id = T2.id WHERE T3.product = 'anvil' AND T2.level = 'red' AND T1.founded > '1900-01-01'",
    "in": 'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line" '
    "WHERE product = 'axe')",
    "not in": "SELECT name FROM customer "
    "WHERE level = 'red' AND id NOT IN (SELECT customer_id FROM \"order line\")",
    "exists": 'SELECT name FROM customer AS c WHERE EXISTS (SELECT 1 FROM "order line" AS o '
    "WHERE o.customer_id = c.id AND o.price > 5000)",
    "highest": "SELECT name FROM customer "
    "WHERE points = (SELECT MAX(points) FROM customer) AND level = 'blue'",
    "above average": "SELECT name FROM customer "
    "WHERE points > (SELECT AVG(points) FROM customer) AND level = 'pink'",
    "first": 'SELECT T1.name FROM customer AS T1 JOIN "order line" AS T2 ON T1.id = T2.customer_id '
    "WHERE T1.id = (SELECT id FROM customer ORDER BY born DESC LIMIT 1)",
    "deep": "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1 OFFSET 6",
    "having": 'SELECT customer_id FROM "order line" GROUP BY customer_id HAVING COUNT(*) > 8',
    "or": "SELECT name FROM customer WHERE (level = 'gold' OR level = 'mauve') AND points < 0.5",
    "null": "SELECT name FROM customer WHERE born IS NULL AND points IS NOT NULL AND level = 'gold'",
    "case": "SELECT SUM(CASE WHEN level = 'teal' THEN 1 ELSE 0 END) FROM customer WHERE points > 60",
    "with": "WITH best AS (SELECT city_id, COUNT(*) AS n FROM customer WHERE level = 'gold' GROUP BY city_id "
    "ORDER BY n DESC LIMIT 1) SELECT T1.name FROM city AS T1 JOIN best AS T2 ON T1.id = T2.city_id",
    "outer": 'SELECT T1.name FROM customer AS T1 LEFT JOIN "order line" AS T2 ON T1.id = T2.customer_id '
    "WHERE T2.number IS NULL AND T1.level = 'gold'",
    "difference": "SELECT name FROM customer WHERE level = 'gold' EXCEPT SELECT name FROM customer "
    "WHERE points > 5",
    "window": "SELECT name FROM (SELECT name, RANK() OVER (ORDER BY points DESC) AS r FROM customer "
    "WHERE level = 'blue') WHERE r = 1",
    "age": "SELECT name FROM customer WHERE STRFTIME('%Y', CURRENT_TIMESTAMP) - STRFTIME('%Y', born) > 110",
    "ratio": 'SELECT name FROM customer AS c JOIN "order line" AS o ON o.customer_id = c.id '
    "WHERE CAST(o.price AS REAL) / o.amount > 900 AND o.amount > 3",
}

WRONG = {
    "a condition too few": (
        "SELECT name FROM customer WHERE level = 'gold' AND points > 250",
        "SELECT name FROM customer WHERE points > 250",
    ),
    "a boundary in": (
        "SELECT name FROM customer WHERE points > 250",
        "SELECT name FROM customer WHERE points >= 250",
    ),
    "the other end of a range": (
        "SELECT name FROM customer WHERE points BETWEEN 250 AND 260",
        "SELECT name FROM customer WHERE points >= 250 AND points < 260",
    ),
    "one of two": (
        "SELECT name FROM customer WHERE level = 'gold' OR points > 250",
        "SELECT name FROM customer WHERE level = 'gold'",
    ),
    "or for and": (
        "SELECT name FROM customer WHERE level = 'gold' AND points > 250",
        "SELECT name FROM customer WHERE level = 'gold' OR points > 250",
    ),
    "less of a list": (
        "SELECT name FROM customer WHERE level IN ('gold', 'red', 'blue')",
        "SELECT name FROM customer WHERE level IN ('gold', 'blue')",
    ),
    "within a text": (
        "SELECT id FROM customer WHERE name = 'Ada Moor'",
        "SELECT id FROM customer WHERE name LIKE '%Ada Moor%'",
    ),
    "the start of a text": (
        "SELECT id FROM customer WHERE name LIKE '%Moor%'",
        "SELECT id FROM customer WHERE name LIKE 'Moor%'",
    ),
    "duplicates counted": (
        'SELECT COUNT(DISTINCT product) FROM "order line" WHERE amount > 5',
        'SELECT COUNT(product) FROM "order line" WHERE amount > 5',
    ),
    "NULL counted": (
        "SELECT COUNT(points) FROM customer WHERE level = 'gold'",
        "SELECT COUNT(*) FROM customer WHERE level = 'gold'",
    ),
    "the extreme of others": (
        "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1",
        "SELECT name FROM customer ORDER BY points DESC LIMIT 1",
    ),
    "the other extreme": (
        "SELECT name FROM customer WHERE level = 'gold' ORDER BY points DESC LIMIT 1",
        "SELECT name FROM customer WHERE level = 'gold' AND points IS NOT NULL ORDER BY points LIMIT 1",
    ),
    "a join lost": (
        (
            'SELECT DISTINCT c.name FROM customer AS c JOIN "order line" AS o ON o.customer_id = c.id '
            "WHERE c.points > 1"
        ),
        "SELECT DISTINCT name FROM customer WHERE points > 1",
    ),
    "a condition of a subquery": (
        (
            'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line" '
            "WHERE product = 'rope')"
        ),
        'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM "order line")',
    ),
    "another year": (
        "SELECT name FROM customer WHERE STRFTIME('%Y', born) = '1985'",
        "SELECT name FROM customer WHERE STRFTIME('%Y', born) >= '1985'",
    ),
    "another group": (
        'SELECT customer_id FROM "order line" GROUP BY customer_id HAVING COUNT(*) > 3',
        'SELECT customer_id FROM "order line" GROUP BY customer_id',
    ),
}
