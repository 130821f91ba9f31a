"""A small schema, what queries over it are made of, and pairs of queries with one planted difference of each class."""

# ruff: noqa: E501 - a pair is a line

SCHEMA = """
CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, city TEXT, founded INTEGER);
CREATE TABLE player (
  id INTEGER PRIMARY KEY, team_id INTEGER REFERENCES team (id), name TEXT NOT NULL, height REAL, born TEXT
);
CREATE TABLE goal (
  player_id INTEGER NOT NULL REFERENCES player (id), minute INTEGER NOT NULL, kind TEXT,
  PRIMARY KEY (player_id, minute)
);
INSERT INTO team VALUES (1, 'Reds', 'Graz', 1900), (2, 'Blues', 'Linz', 1950), (3, 'Greens', NULL, 1990),
  (4, 'Greys', 'Graz', NULL);
INSERT INTO player VALUES (1, 1, 'Ann', 170.5, '2000-01-02'), (2, 1, 'Bob', 180.0, '1999-05-06'),
  (3, 2, 'Cid', NULL, '2001-07-08'), (4, NULL, 'Dee', 190.0, NULL), (5, 2, 'Ann', 170.5, '1999-05-06');
INSERT INTO goal VALUES (1, 5, 'head'), (1, 60, 'foot'), (2, 30, NULL), (3, 90, 'foot');
"""

Fill = dict[str, str]
"""What a template is filled with: a table (t), its column (c) and key (k), and two of its values, v < w."""

CELLS = [
    {"t": table, "k": key, "c": column, "v": low, "w": high}
    for table, key, column, low, high in (
        ("team", "id", "name", "'Blues'", "'Reds'"),
        ("team", "id", "city", "'Graz'", "'Linz'"),
        ("team", "id", "founded", "1900", "1950"),
        ("player", "id", "team_id", "1", "2"),
        ("player", "id", "name", "'Ann'", "'Bob'"),
        ("player", "id", "height", "170.5", "180"),
        ("player", "id", "born", "'1999-05-06'", "'2000-01-02'"),
        ("goal", "", "minute", "30", "60"),
        ("goal", "", "kind", "'foot'", "'head'"),
    )
]
KEYED = [fill for fill in CELLS if fill["k"]]
NULLABLE = [fill for fill in CELLS if fill["c"] not in {"name", "minute"}]
NUMBERS = [fill for fill in CELLS if fill["c"] in {"founded", "height", "minute"}]
_REPEATED = [fill for fill in CELLS if (fill["t"], fill["c"]) != ("team", "name")]
CONDITIONS = [
    {"t": table, "k": key, "c": column, "p": one, "q": other}
    for table, key, column, one, other in (
        ("team", "id", "name", "founded > 1900", "city = 'Graz'"),
        ("team", "id", "city", "name < 'Greys'", "founded IS NULL"),
        ("player", "id", "name", "height >= 175", "born < '2000-01-02'"),
        ("player", "id", "born", "team_id = 1", "height <= 180"),
        ("goal", "", "player_id", "kind = 'foot'", "minute > 45"),
    )
]
"""Two conditions (p, q) on the rows of a table."""
REFERENCES = [
    {"t": child, "f": column, "u": parent, "c": shown, "d": told, "v": value}
    for child, column, parent, shown, told, value in (
        ("player", "team_id", "team", "name", "city", "'Graz'"),
        ("player", "team_id", "team", "born", "name", "'Reds'"),
        ("goal", "player_id", "player", "minute", "name", "'Ann'"),
        ("goal", "player_id", "player", "kind", "born", "'1999-05-06'"),
    )
]
"""A column (f) that refers to the id of another table (u); c is of the one, d = v of the other."""

_PLANTED: list[tuple[str, str, str, list[Fill]]] = [
    ("duplicates", "SELECT COUNT({c}) FROM {t} WHERE {c} <> {v}", "SELECT COUNT(DISTINCT {c}) FROM {t} WHERE {c} <> {v}", _REPEATED),
    ("duplicates", "SELECT COUNT({c}) + 1 FROM {t} WHERE {c} >= {v}", "SELECT COUNT(DISTINCT {c}) + 1 FROM {t} WHERE {c} >= {v}", _REPEATED),
    ("duplicates", "SELECT {k} > 2, COUNT({c}) FROM {t} GROUP BY {k} > 2", "SELECT {k} > 2, COUNT(DISTINCT {c}) FROM {t} GROUP BY {k} > 2", [fill for fill in _REPEATED if fill["k"]]),
    ("duplicates", "SELECT SUM({c}) FROM {t} WHERE {c} < {w}", "SELECT SUM(DISTINCT {c}) FROM {t} WHERE {c} < {w}", NUMBERS),
    ("duplicates", "SELECT AVG({c} + 1) FROM {t}", "SELECT AVG(DISTINCT {c} + 1) FROM {t}", NUMBERS),
    ("duplicates", "SELECT COUNT(y.{d}) FROM {t} x JOIN {u} y ON x.{f} = y.id", "SELECT COUNT(DISTINCT y.{d}) FROM {t} x JOIN {u} y ON x.{f} = y.id", REFERENCES),
    ("null", "SELECT COUNT(*) FROM {t}", "SELECT COUNT({c}) FROM {t}", NULLABLE),
    ("null", "SELECT {k} FROM {t} WHERE {c} <> {v}", "SELECT {k} FROM {t} WHERE {c} IS NOT {v}", [fill for fill in NULLABLE if fill["k"]]),
    ("null", "SELECT {k} FROM {t}", "SELECT {k} FROM {t} WHERE {c} IS NOT NULL", [fill for fill in NULLABLE if fill["k"]]),
    ("null", "SELECT {c} FROM {t}", "SELECT COALESCE({c}, {v}) FROM {t}", NULLABLE),
    ("null", "SELECT {c}, COUNT(*) FROM {t} GROUP BY {c}", "SELECT {c}, COUNT({c}) FROM {t} GROUP BY {c}", NULLABLE),
    ("tie", "SELECT {k} FROM {t} ORDER BY {c} LIMIT 1", "SELECT {k} FROM {t} ORDER BY {c} LIMIT 2", KEYED),
    ("tie", "SELECT {k} FROM {t} ORDER BY {c}, {k} LIMIT 1", "SELECT {k} FROM {t} ORDER BY {c} DESC, {k} LIMIT 1", KEYED),
    ("tie", "SELECT {c} FROM {t} ORDER BY {c} DESC LIMIT 2", "SELECT {c} FROM {t} ORDER BY {c} DESC", CELLS),
    ("tie", "SELECT {k} FROM {t} WHERE {c} > {v} ORDER BY {k} LIMIT 1", "SELECT {k} FROM {t} WHERE {c} > {v} ORDER BY {k} LIMIT 1 OFFSET 1", KEYED),
    ("boundary", "SELECT {c} FROM {t} WHERE {c} > {v}", "SELECT {c} FROM {t} WHERE {c} >= {v}", CELLS),
    ("boundary", "SELECT COUNT(*) FROM {t} WHERE {c} < {w}", "SELECT COUNT(*) FROM {t} WHERE {c} <= {w}", CELLS),
    ("boundary", "SELECT {c} FROM {t} WHERE {c} BETWEEN {v} AND {w}", "SELECT {c} FROM {t} WHERE {c} > {v} AND {c} <= {w}", CELLS),
    ("condition", "SELECT {c} FROM {t} WHERE {p} AND {q}", "SELECT {c} FROM {t} WHERE {p}", CONDITIONS),
    ("condition", "SELECT {c} FROM {t} WHERE {p} AND {q}", "SELECT {c} FROM {t} WHERE {p} OR {q}", CONDITIONS),
    ("condition", "SELECT {c} FROM {t} WHERE {p}", "SELECT {c} FROM {t} WHERE {q}", CONDITIONS),
    ("condition", "SELECT COUNT(*) FROM {t} WHERE {c} = {v}", "SELECT COUNT(*) FROM {t} WHERE {c} = {w}", CELLS),
    ("condition", "SELECT {c} FROM {t} WHERE {c} IN ({v}, {w})", "SELECT {c} FROM {t} WHERE {c} = {w}", CELLS),
    ("join", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id WHERE y.{d} = {v}", "SELECT {c} FROM {t}", REFERENCES),
    ("join", "SELECT y.{d} FROM {u} y LEFT JOIN {t} x ON x.{f} = y.id", "SELECT y.{d} FROM {u} y JOIN {t} x ON x.{f} = y.id", REFERENCES),
    ("join", "SELECT COUNT(*) FROM {u} y JOIN {t} x ON x.{f} = y.id", "SELECT COUNT(*) FROM {u}", REFERENCES),
    ("join", "SELECT {d} FROM {u} WHERE id IN (SELECT {f} FROM {t})", "SELECT {d} FROM {u}", REFERENCES),
    ("join", "SELECT {d} FROM {u} WHERE id NOT IN (SELECT {f} FROM {t} WHERE {f} IS NOT NULL)", "SELECT {d} FROM {u}", REFERENCES),
    ("join", "SELECT y.id, COUNT(*) FROM {u} y LEFT JOIN {t} x ON x.{f} = y.id GROUP BY y.id", "SELECT y.id, COUNT(*) FROM {u} y JOIN {t} x ON x.{f} = y.id GROUP BY y.id", REFERENCES),
    ("join", "SELECT MAX(y.{d}) FROM {u} y", "SELECT MAX(y.{d}) FROM {u} y JOIN {t} x ON x.{f} = y.id", REFERENCES),
    ("column", "SELECT {c} FROM {t} WHERE {c} = {v}", "SELECT {k} FROM {t} WHERE {c} = {v}", KEYED),
    ("column", "SELECT {c}, {k} FROM {t}", "SELECT {c} FROM {t}", KEYED),
    ("column", "SELECT MAX({c}) FROM {t}", "SELECT MAX({k}) FROM {t}", KEYED),
    ("column", "SELECT x.{c} FROM {t} x JOIN {u} y ON x.{f} = y.id", "SELECT y.{d} FROM {t} x JOIN {u} y ON x.{f} = y.id", REFERENCES),
    ("column", "SELECT {c}, {k} FROM {t}", "SELECT {k}, {c} FROM {t}", KEYED),
    ("aggregate", "SELECT MAX({c}) FROM {t}", "SELECT MIN({c}) FROM {t}", CELLS),
    ("aggregate", "SELECT MIN({c}) FROM {t} WHERE {c} > {v}", "SELECT MAX({c}) FROM {t} WHERE {c} > {v}", CELLS),
    ("aggregate", "SELECT SUM({c}) FROM {t}", "SELECT AVG({c}) FROM {t}", NUMBERS),
    ("aggregate", "SELECT MAX({c}) FROM {t}", "SELECT SUM({c}) FROM {t}", NUMBERS),
    ("aggregate", "SELECT COUNT({c}) FROM {t}", "SELECT MAX({c}) FROM {t}", CELLS),
]  # fmt: skip
"""Templates of each class."""

DIFFERENT = {
    "duplicates": [
        ("SELECT COUNT(name) FROM player", "SELECT COUNT(DISTINCT name) FROM player"),
        ("SELECT COUNT(kind) FROM goal", "SELECT COUNT(DISTINCT kind) FROM goal"),
        ("SELECT SUM(founded) FROM team", "SELECT SUM(DISTINCT founded) FROM team"),
        ("SELECT AVG(height) FROM player", "SELECT AVG(DISTINCT height) FROM player"),
        ("SELECT COUNT(player_id) FROM goal", "SELECT COUNT(DISTINCT player_id) FROM goal"),
        ("SELECT COUNT(city) FROM team", "SELECT COUNT(DISTINCT city) FROM team"),
        ("SELECT COUNT(born) FROM player WHERE height > 175", "SELECT COUNT(DISTINCT born) FROM player WHERE height > 175"),
        ("SELECT kind, COUNT(player_id) FROM goal GROUP BY kind", "SELECT kind, COUNT(DISTINCT player_id) FROM goal GROUP BY kind"),
        ("SELECT COUNT(t.id) FROM team t JOIN player p ON p.team_id = t.id", "SELECT COUNT(DISTINCT t.id) FROM team t JOIN player p ON p.team_id = t.id"),
        ("SELECT team_id FROM player GROUP BY team_id HAVING COUNT(height) > 1", "SELECT team_id FROM player GROUP BY team_id HAVING COUNT(DISTINCT height) > 1"),
    ],
    "null": [
        ("SELECT COUNT(*) FROM goal", "SELECT COUNT(kind) FROM goal"),
        ("SELECT COUNT(id) FROM player", "SELECT COUNT(height) FROM player"),
        ("SELECT COUNT(*) FROM team", "SELECT COUNT(city) FROM team"),
        ("SELECT name FROM team WHERE city <> 'Graz'", "SELECT name FROM team WHERE city IS NOT 'Graz'"),
        ("SELECT name FROM team", "SELECT name FROM team WHERE city IS NOT NULL"),
        ("SELECT name FROM player WHERE NOT height > 175", "SELECT name FROM player WHERE height IS NULL OR height <= 175"),
        ("SELECT AVG(height) FROM player", "SELECT SUM(height) / COUNT(*) FROM player"),
        ("SELECT name FROM player WHERE born IS NULL", "SELECT name FROM player WHERE born = ''"),
        ("SELECT DISTINCT kind FROM goal", "SELECT DISTINCT kind FROM goal WHERE kind IS NOT NULL"),
        ("SELECT name FROM player ORDER BY height LIMIT 1", "SELECT name FROM player WHERE height IS NOT NULL ORDER BY height LIMIT 1"),
    ],
    "tie": [
        ("SELECT name FROM team ORDER BY founded LIMIT 1", "SELECT name FROM team WHERE founded IS (SELECT MIN(founded) FROM team)"),
        ("SELECT name FROM player WHERE height IS NOT NULL ORDER BY height DESC LIMIT 1", "SELECT name FROM player WHERE height = (SELECT MAX(height) FROM player)"),
        ("SELECT id FROM team ORDER BY founded LIMIT 1", "SELECT id FROM team ORDER BY founded LIMIT 2"),
        ("SELECT name FROM player ORDER BY height DESC LIMIT 1", "SELECT name FROM player ORDER BY height DESC"),
        ("SELECT player_id FROM goal ORDER BY minute LIMIT 1", "SELECT player_id FROM goal WHERE minute = (SELECT MIN(minute) FROM goal)"),
        ("SELECT player_id FROM goal ORDER BY minute DESC LIMIT 1", "SELECT player_id FROM goal WHERE minute = (SELECT MAX(minute) FROM goal)"),
        ("SELECT team_id FROM player GROUP BY team_id ORDER BY COUNT(*) DESC LIMIT 1", "SELECT team_id FROM player GROUP BY team_id ORDER BY COUNT(*) DESC LIMIT 2"),
        ("SELECT kind FROM goal ORDER BY minute LIMIT 3", "SELECT kind FROM goal ORDER BY minute"),
        ("SELECT minute FROM goal ORDER BY minute LIMIT 1 OFFSET 1", "SELECT minute FROM goal ORDER BY minute LIMIT 1"),
        ("SELECT name FROM team ORDER BY name LIMIT 1", "SELECT name FROM team ORDER BY name DESC LIMIT 1"),
    ],
    "boundary": [
        ("SELECT name FROM team WHERE founded > 1950", "SELECT name FROM team WHERE founded >= 1950"),
        ("SELECT name FROM team WHERE founded < 1950", "SELECT name FROM team WHERE founded <= 1950"),
        ("SELECT name FROM player WHERE height < 180", "SELECT name FROM player WHERE height <= 180"),
        ("SELECT name FROM player WHERE height > 180 AND team_id = 1", "SELECT name FROM player WHERE height >= 180 AND team_id = 1"),
        ("SELECT player_id FROM goal WHERE minute BETWEEN 30 AND 60", "SELECT player_id FROM goal WHERE minute >= 30 AND minute < 60"),
        ("SELECT player_id FROM goal WHERE minute BETWEEN 30 AND 60", "SELECT player_id FROM goal WHERE minute > 30 AND minute <= 60"),
        ("SELECT name FROM player WHERE born > '2000-01-02'", "SELECT name FROM player WHERE born >= '2000-01-02'"),
        ("SELECT name FROM player WHERE born < '2000-01-02'", "SELECT name FROM player WHERE born <= '2000-01-02'"),
        ("SELECT COUNT(*) FROM goal WHERE minute > 45", "SELECT COUNT(*) FROM goal WHERE minute >= 45"),
        ("SELECT player_id FROM goal GROUP BY player_id HAVING COUNT(*) > 1", "SELECT player_id FROM goal GROUP BY player_id HAVING COUNT(*) >= 1"),
        ("SELECT SUM(CASE WHEN minute > 45 THEN 1 ELSE 0 END) FROM goal", "SELECT SUM(CASE WHEN minute >= 45 THEN 1 ELSE 0 END) FROM goal"),
    ],
    "condition": [
        ("SELECT name FROM team WHERE city = 'Graz'", "SELECT name FROM team"),
        ("SELECT name FROM team WHERE city = 'Graz'", "SELECT name FROM team WHERE city = 'Linz'"),
        ("SELECT name FROM team WHERE city = 'Graz' AND founded > 1900", "SELECT name FROM team WHERE city = 'Graz' OR founded > 1900"),
        ("SELECT name FROM team WHERE city = 'Graz' AND founded > 1900", "SELECT name FROM team WHERE founded > 1900"),
        ("SELECT name FROM team WHERE city LIKE 'Gr%'", "SELECT name FROM team WHERE city = 'Graz'"),
        ("SELECT name FROM player WHERE born LIKE '2000%'", "SELECT name FROM player WHERE born > '2000'"),
        ("SELECT COUNT(*) FROM goal WHERE kind = 'foot'", "SELECT COUNT(*) FROM goal WHERE kind <> 'foot'"),
        ("SELECT COUNT(player_id) FROM goal WHERE minute > 30", "SELECT COUNT(player_id) FROM goal WHERE player_id > 30"),
        ("SELECT player_id FROM goal WHERE kind IN ('foot', 'head')", "SELECT player_id FROM goal WHERE kind = 'foot'"),
        ("SELECT name FROM player WHERE height > 180", "SELECT name FROM player WHERE height < 180"),
        ("SELECT name FROM player WHERE team_id = 1 AND height > 175", "SELECT name FROM player WHERE team_id = 2 AND height > 175"),
    ],
    "join": [
        ("SELECT t.name FROM team t JOIN player p ON p.team_id = t.id", "SELECT name FROM team"),
        ("SELECT p.name FROM player p JOIN goal g ON g.player_id = p.id", "SELECT name FROM player"),
        ("SELECT p.name FROM player p JOIN team t ON p.team_id = t.id", "SELECT name FROM player"),
        ("SELECT t.id, COUNT(p.id) FROM team t LEFT JOIN player p ON p.team_id = t.id GROUP BY t.id", "SELECT t.id, COUNT(p.id) FROM team t JOIN player p ON p.team_id = t.id GROUP BY t.id"),
        ("SELECT COUNT(*) FROM player", "SELECT COUNT(*) FROM player p JOIN goal g ON g.player_id = p.id"),
        ("SELECT COUNT(*) FROM team", "SELECT COUNT(*) FROM team t LEFT JOIN player p ON p.team_id = t.id"),
        ("SELECT t.city FROM team t JOIN player p ON p.team_id = t.id JOIN goal g ON g.player_id = p.id", "SELECT t.city FROM team t JOIN player p ON p.team_id = t.id"),
        ("SELECT name FROM player WHERE id IN (SELECT player_id FROM goal)", "SELECT name FROM player"),
        ("SELECT SUM(t.founded) FROM team t JOIN player p ON p.team_id = t.id", "SELECT SUM(founded) FROM team"),
        ("SELECT p.id FROM player p LEFT JOIN goal g ON g.player_id = p.id WHERE g.minute IS NULL", "SELECT p.id FROM player p JOIN goal g ON g.player_id = p.id WHERE g.minute IS NULL"),
    ],
    "column": [
        ("SELECT name FROM team", "SELECT city FROM team"),
        ("SELECT MAX(height) FROM player", "SELECT MAX(id) FROM player"),
        ("SELECT id FROM team WHERE city = 'Graz'", "SELECT name FROM team WHERE city = 'Graz'"),
        ("SELECT born FROM player WHERE height > 175", "SELECT name FROM player WHERE height > 175"),
        ("SELECT name, city FROM team", "SELECT name FROM team"),
        ("SELECT player_id FROM goal WHERE kind = 'foot'", "SELECT minute FROM goal WHERE kind = 'foot'"),
        ("SELECT AVG(minute) FROM goal", "SELECT AVG(player_id) FROM goal"),
        ("SELECT id, team_id FROM player", "SELECT team_id, id FROM player"),
        ("SELECT SUM(id) FROM team", "SELECT SUM(founded) FROM team"),
        ("SELECT p.name FROM player p JOIN team t ON p.team_id = t.id", "SELECT t.name FROM player p JOIN team t ON p.team_id = t.id"),
    ],
    "aggregate": [
        ("SELECT MAX(founded) FROM team", "SELECT MIN(founded) FROM team"),
        ("SELECT SUM(minute) FROM goal", "SELECT MAX(minute) FROM goal"),
        ("SELECT AVG(minute) FROM goal", "SELECT SUM(minute) FROM goal"),
        ("SELECT COUNT(minute) FROM goal", "SELECT SUM(minute) FROM goal"),
        ("SELECT AVG(minute) FROM goal", "SELECT MAX(minute) FROM goal"),
        ("SELECT kind, MAX(minute) FROM goal GROUP BY kind", "SELECT kind, MIN(minute) FROM goal GROUP BY kind"),
        ("SELECT COUNT(*) FROM goal GROUP BY player_id", "SELECT COUNT(*) FROM goal"),
        ("SELECT team_id FROM player GROUP BY team_id HAVING COUNT(*) > 1", "SELECT team_id FROM player GROUP BY team_id"),
        ("SELECT SUM(minute) FROM goal GROUP BY player_id", "SELECT SUM(minute) FROM goal GROUP BY kind"),
        ("SELECT MIN(minute) FROM goal WHERE player_id = 1", "SELECT MAX(minute) FROM goal WHERE player_id = 1"),
    ],
}  # fmt: skip

for _class, _one, _other, _fills in _PLANTED:
    DIFFERENT[_class] += [
        pair
        for fill in _fills
        if (pair := (_one.format_map(fill), _other.format_map(fill))) not in DIFFERENT[_class]
    ]
