CREATE TABLE currencies (code CHAR(3) PRIMARY KEY, name VARCHAR(50), decimals INTEGER NOT NULL DEFAULT 2);
CREATE TABLE accounts (id INTEGER PRIMARY KEY, name VARCHAR(100) NOT NULL, kind VARCHAR(20) NOT NULL, currency CHAR(3) REFERENCES currencies(code), opened DATE, closed DATE, opening INTEGER NOT NULL DEFAULT 0);
CREATE TABLE categories (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(80) NOT NULL, is_income BOOLEAN NOT NULL DEFAULT 0);
CREATE TABLE payees (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE UNIQUE);
CREATE TABLE entries (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, day DATE NOT NULL, amount INTEGER NOT NULL, payee_id INTEGER, category_id INTEGER, memo TEXT, cleared BOOLEAN NOT NULL DEFAULT 0, transfer_id INTEGER);
CREATE TABLE splits (entry_id INTEGER NOT NULL, category_id INTEGER NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE budgets (month CHAR(7) NOT NULL, category_id INTEGER NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (month, category_id));
CREATE TABLE prices (symbol TEXT, day DATE, close DECIMAL(10,4), PRIMARY KEY (symbol, day));
CREATE TABLE holdings (account_id INTEGER, symbol TEXT, quantity REAL, cost REAL);
INSERT INTO currencies VALUES ('EUR', 'Euro', 2), ('JPY', 'Yen', 0), ('USD', 'US Dollar', 2);
INSERT INTO accounts VALUES (1, 'Checking', 'bank', 'EUR', '2020-01-01', NULL, 100000), (2, 'Savings', 'bank', 'EUR', '2020-01-01', NULL, 500000), (3, 'Tokyo', 'cash', 'JPY', '2022-04-01', '2022-10-01', 0), (4, 'Broker', 'invest', 'USD', '2021-06-15', NULL, 0);
INSERT INTO categories VALUES (1, NULL, 'Living', 0), (2, 1, 'Rent', 0), (3, 1, 'Food', 0), (4, NULL, 'Salary', 1), (5, 3, 'Restaurants', 0), (6, NULL, 'Interest', 1);
INSERT INTO payees VALUES (1, 'Landlord'), (2, 'Market'), (3, 'ACME Corp'), (4, 'Café Zoë');
INSERT INTO entries VALUES
 (1, 1, '2023-01-01', -80000, 1, 2, NULL, 1, NULL), (2, 1, '2023-01-05', -4550, 2, 3, 'weekly', 1, NULL), (3, 1, '2023-01-31', 250000, 3, 4, 'January', 1, NULL), (4, 1, '2023-02-01', -80000, 1, 2, NULL, 1, NULL), (5, 1, '2023-02-03', -50000, NULL, NULL, 'to savings', 0, 6), (6, 2, '2023-02-03', 50000, NULL, NULL, 'from checking', 0, 5),
 (7, 1, '2023-02-14', -6780, 4, NULL, 'split', 0, NULL), (8, 3, '2022-05-01', -1200, 4, 5, NULL, 1, NULL), (9, 2, '2023-03-31', 333, NULL, 6, 'Interest 0.1%', 1, NULL), (10, 1, '2023-03-02', -5, 2, 3, '', 0, NULL);
INSERT INTO splits VALUES (7, 5, -5000), (7, 3, -1780);
INSERT INTO budgets VALUES ('2023-01', 3, 10000), ('2023-02', 3, 10000), ('2023-02', 5, 4000), ('2023-01', 2, 80000);
INSERT INTO prices VALUES ('ABC', '2023-01-02', 10.5), ('ABC', '2023-02-02', 12.25), ('ABC', '2023-03-02', 11), ('XYZ', '2023-01-02', 99.99);
INSERT INTO holdings VALUES (4, 'ABC', 10.5, 101.0), (4, 'XYZ', 1.0, 120.0), (4, 'OLD', 0.0, 5.0);
