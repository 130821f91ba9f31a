"""Small databases with NULLs, duplicates, ties and empty tables, under keys declared or not; and queries."""

# ruff: noqa: E501, ISC004 - queries are written as they are

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from dialects.enums import Dialect

Value = int | str | None


@dataclass(frozen=True)
class World:
    """Two tables: teams and their players."""

    code: str
    """What is declared of `team.code`, and of the columns below."""
    points: str
    founded: str
    team_id: str
    team_code: str
    teams: Sequence[tuple[Value, ...]]
    players: Sequence[tuple[Value, ...]]

    @property
    def script(self) -> str:
        """CREATE TABLE of both."""
        return (
            f"CREATE TABLE team (id INTEGER PRIMARY KEY, code TEXT {self.code}, name TEXT,"
            f" points INTEGER {self.points}, founded {self.founded});"
            f"CREATE TABLE player (id INTEGER PRIMARY KEY, team_id INTEGER {self.team_id},"
            f" team_code TEXT {self.team_code}, name TEXT, goals INTEGER, born {self.founded});"
        )

    def write(self, path: Path) -> Path:
        """Make the file; rows that a declared key or NOT NULL does not take are left out."""
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(self.script)
            connection.executemany("INSERT OR IGNORE INTO team VALUES (?, ?, ?, ?, ?)", self.teams)
            connection.executemany("INSERT OR IGNORE INTO player VALUES (?, ?, ?, ?, ?, ?)", self.players)
            connection.commit()
        return path


TEXTS = ("a", "A", "b", "", "ab", "B", None)
NUMBERS = (0, 1, 2, 2, 3, None)
DAYS = ("2011-12-31", "2012-01-01", "2012-06-30", "2012-12-31", "2013-01-01", None)
ODD_DAYS = (*DAYS, "2012-1-1", "", "2012", "soon", "2012-02-31")
KEYS = (1, 2, 3, 4, 9, None)


@st.composite
def worlds(draw: st.DrawFn, *, odd_days: bool | None = None) -> World:
    """Any such database."""
    days = ODD_DAYS if (draw(st.booleans()) if odd_days is None else odd_days) else DAYS
    unique = draw(st.booleans())
    pick = st.sampled_from
    teams = draw(
        st.lists(
            st.tuples(st.integers(1, 6), pick(TEXTS), pick(TEXTS), pick(NUMBERS), pick(days)), max_size=6
        )
    )
    players = draw(
        st.lists(
            st.tuples(st.integers(1, 9), pick(KEYS), pick(TEXTS), pick(TEXTS), pick(NUMBERS), pick(days)),
            max_size=9,
        )
    )
    return World(
        code=("UNIQUE" if unique else "") + draw(pick(("", " NOT NULL"))),
        points=draw(pick(("", "NOT NULL", "UNIQUE", "NOT NULL UNIQUE"))),
        founded=draw(pick(("TEXT", "DATE"))),
        team_id=draw(pick(("", "NOT NULL", "REFERENCES team (id)", "NOT NULL REFERENCES team (id)"))),
        team_code="REFERENCES team (code)" if unique and draw(st.booleans()) else "",
        teams=teams,
        players=players,
    )


ORDINARY = World(
    code="UNIQUE NOT NULL",
    points="NOT NULL UNIQUE",
    founded="DATE",
    team_id="NOT NULL REFERENCES team (id)",
    team_code="REFERENCES team (code)",
    teams=[
        (1, "a", "ant", 5, "2011-12-31"), (2, "b", "bee", 7, "2012-01-01"), (3, "ab", "bee", 9, "2012-12-31"),
        (4, "c", None, 1, None),
    ],
    players=[
        (1, 1, "a", "x", 3, "2012-01-01"), (2, 1, "a", "y", None, "2011-01-01"), (3, 2, "b", "x", 3, None),
        (4, 3, None, "z", 0, "2012-12-31"), (5, 2, "b", None, 2, "2013-01-01"),
    ],
)  # fmt: skip
"""One on which every rule has something to do."""

J = "FROM player AS p INNER JOIN team AS t ON p.team_id = t.id"
L = "FROM player AS p LEFT JOIN team AS t ON p.team_id = t.id"
IN_KEY = "team_id IN (SELECT id FROM team WHERE points > 1)"
IN_ANY = "id IN (SELECT team_id FROM player WHERE goals > 1)"

QUERIES: Mapping[str, Sequence[str]] = {
    "cte-inline": [
        "WITH good AS (SELECT id, points FROM team WHERE points > 1) SELECT id FROM good WHERE id < 4",
        "WITH g AS (SELECT team_id AS k, COUNT(*) AS n FROM player GROUP BY team_id) SELECT t.id, g.n FROM team AS t"
        " LEFT JOIN g ON g.k = t.id ORDER BY t.id, g.n",
        "WITH a AS (SELECT id FROM team), b AS (SELECT id FROM a WHERE id > 1) SELECT COUNT(id) FROM b",
        "WITH team AS (SELECT * FROM player) SELECT id FROM team",
        "WITH a AS (SELECT id FROM team) SELECT x.id FROM a AS x, a AS y WHERE x.id = y.id",
        "SELECT id FROM player AS p WHERE EXISTS (WITH w AS (SELECT id FROM team) SELECT 1 FROM w WHERE w.id = p.id)",
    ],
    "limit-to-extreme": [
        "SELECT id FROM team ORDER BY points DESC LIMIT 1",
        "SELECT id, name FROM team WHERE id > 1 ORDER BY points LIMIT 1",
        "SELECT points FROM team ORDER BY points DESC LIMIT 1",
        "SELECT points FROM team WHERE id > 2 ORDER BY points LIMIT 1",
        "SELECT p.id FROM player AS p WHERE p.team_id = (SELECT id FROM team ORDER BY points DESC LIMIT 1)",
        "SELECT p.goals FROM player AS p INNER JOIN team AS t ON p.team_id = t.id ORDER BY p.goals DESC LIMIT 1",
        "SELECT t.id, p.id FROM player AS p INNER JOIN team AS t ON p.team_id = t.id ORDER BY p.id DESC LIMIT 1",
        "SELECT t.name FROM player AS p INNER JOIN team AS t ON p.team_id = t.id ORDER BY t.points DESC LIMIT 1",
        "SELECT name FROM team ORDER BY name LIMIT 1",
        "SELECT id FROM team WHERE points IS NOT NULL ORDER BY points LIMIT 1",
        "SELECT id, points AS p FROM team ORDER BY p DESC LIMIT 1",
        "SELECT points AS id FROM team ORDER BY id LIMIT 1",
    ],
    "in-to-join": [
        f"SELECT id, goals FROM player WHERE {IN_KEY}",
        f"SELECT COUNT(*) FROM player WHERE {IN_KEY} AND goals > 0",
        "SELECT id FROM player WHERE team_code IN (SELECT code FROM team)",
        f"SELECT id FROM team WHERE {IN_ANY}",
        f"SELECT p.name, COUNT(p.id) FROM player AS p, team AS t WHERE p.team_id = t.id AND p.{IN_KEY}"
        " GROUP BY p.name",
        "SELECT id FROM player WHERE team_id IN (SELECT t.id FROM team AS t INNER JOIN player AS q"
        " ON q.id = t.id)",
        f"SELECT * FROM player WHERE {IN_KEY}",
        "SELECT p.id FROM player AS p WHERE p.team_id IN (SELECT id FROM team WHERE points = p.goals)",
    ],
    "in-to-exists": [
        f"SELECT id, name FROM team WHERE {IN_ANY}",
        f"SELECT * FROM team WHERE {IN_ANY} ORDER BY id",
        "SELECT p.id FROM player AS p WHERE p.team_code IN (SELECT code FROM team AS t WHERE t.points > p.goals)",
        "SELECT p.id FROM player AS p WHERE p.goals IN (SELECT p.goals FROM player AS p)",
        "SELECT t.id, t.points IN (SELECT q.goals FROM player AS q) FROM team AS t",
        "SELECT id FROM team WHERE name IN (SELECT DISTINCT name FROM player)",
        "SELECT team_id AS k, id FROM player WHERE k IN (SELECT id FROM team)",
        "SELECT id AS team_id FROM player WHERE team_id IN (SELECT id FROM team) ORDER BY team_id",
    ],
    "in-to-distinct-join": [
        f"SELECT name FROM team WHERE {IN_ANY}",
        "SELECT COUNT(*) FROM team AS t WHERE t.name IN (SELECT name FROM player)",
        "SELECT t.id FROM team AS t, player AS q WHERE q.team_id = t.id AND t.points IN (SELECT goals FROM player)",
        "SELECT t.id FROM team AS t LEFT JOIN player AS q ON q.team_id = t.id WHERE q.goals IN"
        " (SELECT points FROM team)",
    ],
    "not-in-to-not-exists": [
        "SELECT id FROM team WHERE id NOT IN (SELECT team_id FROM player)",
        "SELECT id FROM team WHERE id NOT IN (SELECT id FROM player WHERE goals > 1)",
        "SELECT p.id FROM player AS p WHERE p.team_id NOT IN (SELECT t.id FROM team AS t)",
        "SELECT p.id FROM player AS p LEFT JOIN team AS t ON t.id = p.team_id WHERE t.id NOT IN"
        " (SELECT q.id FROM player AS q)",
    ],
    "correlated-to-derived": [
        "SELECT t.id, (SELECT COUNT(*) FROM player AS p WHERE p.team_id = t.id) FROM team AS t",
        "SELECT t.id, (SELECT MAX(p.goals) FROM player AS p WHERE p.team_id = t.id AND p.id > 2) AS most FROM team AS t",
        "SELECT t.id FROM team AS t WHERE t.points > (SELECT SUM(p.goals) FROM player AS p WHERE t.id = p.team_id)",
        "SELECT t.id FROM team AS t WHERE (SELECT COUNT(p.goals) FROM player AS p WHERE p.team_id = t.id) = 0",
        "SELECT COUNT(*) FROM team AS t WHERE t.points < (SELECT AVG(p.goals) FROM player AS p WHERE p.team_id = t.id)",
        "SELECT t.id, (SELECT MIN(p.id) FROM player AS p WHERE p.team_id < t.id) FROM team AS t",
        "SELECT t.id, (SELECT COUNT(DISTINCT p.goals) FROM player AS p WHERE p.goals = t.points) FROM team AS t",
    ],
    "join-elimination": [
        f"SELECT p.id {J}",
        f"SELECT COUNT(*) {J} WHERE p.goals > 0",
        f"SELECT p.id, t.id {J} WHERE t.id < 3 ORDER BY p.id",
        f"SELECT p.id {L}",
        f"SELECT p.id, t.name {L}",
        "SELECT p.id FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
        "SELECT p.id FROM player AS p INNER JOIN team AS t ON p.team_code = t.code",
        "SELECT p.id FROM player AS p LEFT JOIN team AS t ON p.name = t.name",
        "SELECT p.id, q.id FROM player AS p INNER JOIN team AS t ON p.team_id = t.id INNER JOIN player AS q"
        " ON q.team_id = t.id",
        "SELECT q.id FROM player AS q LEFT JOIN player AS p ON q.goals = p.id INNER JOIN team AS t"
        " ON p.team_id = t.id",
        "SELECT t.id FROM team AS t INNER JOIN player AS p ON p.team_id = t.id",
    ],
    "distinct-elimination": [
        "SELECT DISTINCT id, name FROM team",
        "SELECT DISTINCT name FROM team",
        "SELECT DISTINCT code FROM team",
        "SELECT DISTINCT points, code FROM team ORDER BY points, code",
        f"SELECT DISTINCT p.id, t.name {J}",
        f"SELECT DISTINCT t.id {J}",
        f"SELECT DISTINCT p.id, t.id {L}",
        "SELECT DISTINCT p.id FROM player AS p LEFT JOIN team AS t ON p.name = t.name",
        "SELECT DISTINCT * FROM player",
        "SELECT COUNT(DISTINCT id) FROM team",
        f"SELECT COUNT(DISTINCT t.id), COUNT(DISTINCT p.id) {J}",
        "SELECT DISTINCT goals, COUNT(*) FROM player GROUP BY goals",
        "SELECT DISTINCT COUNT(*) FROM player GROUP BY goals",
        "SELECT DISTINCT t.points FROM team AS t WHERE t.id = 2",
    ],
    "count-star-to-key": [
        "SELECT COUNT(*) FROM team",
        f"SELECT COUNT(*) {J}",
        f"SELECT COUNT(*), COUNT(t.points) {L}",
        "SELECT goals, COUNT(*) FROM player GROUP BY goals HAVING COUNT(*) > 1",
        "SELECT COUNT(*) FROM (SELECT name FROM team) AS t",
        "SELECT COUNT(*) FROM team AS t RIGHT JOIN player AS p ON p.team_id = t.id",
    ],
    "or-to-union-all": [
        "SELECT id, name FROM player WHERE goals = 2 OR name = 'x'",
        "SELECT id FROM player WHERE (goals > 1 OR team_id = 2) AND id < 8",
        "SELECT id, goals FROM player WHERE goals > 1 OR name = 'a' OR team_id = 1 ORDER BY id DESC",
        "SELECT name FROM player WHERE goals > 1 OR goals < 1",
        "SELECT DISTINCT name FROM player WHERE goals > 1 OR team_id = 1",
        "SELECT COUNT(*) FROM player WHERE goals > 1 OR team_id = 1",
        "SELECT q.id FROM (SELECT id FROM player WHERE goals IS NULL OR team_id = 1) AS q",
    ],
}  # fmt: skip

YEARS: Mapping[Dialect, Sequence[str]] = {
    Dialect.SQLITE: [
        "SELECT id FROM team WHERE STRFTIME('%Y', founded) = '2012'",
        "SELECT id FROM team WHERE STRFTIME('%Y', founded) > '2011'",
        "SELECT id FROM team WHERE STRFTIME('%Y', founded) <= '2012'",
        "SELECT id FROM team WHERE STRFTIME('%Y', founded) BETWEEN '2012' AND '2012'",
        "SELECT id FROM team WHERE NOT STRFTIME('%Y', founded) = '2012'",
        "SELECT id FROM team WHERE CAST(STRFTIME('%Y', founded) AS INTEGER) < 2012",
        "SELECT id FROM team WHERE '2012-12' >= STRFTIME('%Y-%m', founded)",
        "SELECT id FROM team WHERE SUBSTR(founded, 1, 4) = '2012'",
        "SELECT id FROM team WHERE SUBSTR(founded, 1, 7) > '2012-01'",
        "SELECT id FROM team WHERE SUBSTR(code, 1, 1) = 'a'",
        "SELECT id FROM team WHERE SUBSTR(name, 1, 1) >= 'a'",
        "SELECT id FROM team WHERE DATE(founded) = '2012-12-31'",
        "SELECT SUM(IIF(STRFTIME('%Y', founded) = '2012', 1, 0)) FROM team",
        "SELECT STRFTIME('%Y', founded) = '2012', COUNT(*) FROM team GROUP BY STRFTIME('%Y', founded) = '2012'",
        "SELECT t.id FROM team AS t LEFT JOIN player AS p ON p.team_id = t.id AND STRFTIME('%Y', p.born) = '2012'",
    ],
    Dialect.MYSQL: [
        "SELECT id FROM team WHERE YEAR(founded) = 2012",
        "SELECT id FROM team WHERE YEAR(founded) BETWEEN 2011 AND 2012",
        "SELECT id FROM team WHERE EXTRACT(YEAR FROM founded) > 2011",
        "SELECT id FROM team WHERE DATE_FORMAT(CAST(founded AS DATETIME), '%Y') = '2012'",
        "SELECT id FROM team WHERE DATE_FORMAT(founded, '%Y-%m') <= '2012-12'",
        "SELECT id FROM team WHERE SUBSTR(founded, 1, 4) = '2012'",
        "SELECT id FROM team WHERE LEFT(founded, 7) < '2012-12'",
        "SELECT id FROM team WHERE SUBSTR(code, 1, 1) = 'a'",
        "SELECT SUM(CASE WHEN YEAR(founded) = 2012 THEN 1 ELSE 0 END) FROM team",
    ],
    Dialect.POSTGRESQL: [
        "SELECT id FROM team WHERE EXTRACT(YEAR FROM founded) = 2012",
        "SELECT id FROM team WHERE EXTRACT(YEAR FROM founded) BETWEEN 2011 AND 2012",
        "SELECT id FROM team WHERE DATE_PART('year', founded) > 2011",
        "SELECT id FROM team WHERE TO_CHAR(CAST(founded AS TIMESTAMP), 'YYYY') = '2012'",
        "SELECT id FROM team WHERE TO_CHAR(CAST(founded AS TIMESTAMP), 'YYYY-MM') <= '2012-12'",
        "SELECT id FROM team WHERE SUBSTR(founded::text, 1, 4) = '2012'",
        "SELECT id FROM team WHERE SUBSTR(code, 1, 1) = 'a'",
        "SELECT SUM(CASE WHEN EXTRACT(YEAR FROM founded) = 2012 THEN 1 ELSE 0 END) FROM team",
    ],
}  # fmt: skip


def queries(dialect: Dialect) -> dict[str, Sequence[str]]:
    """Queries by the rule that they are made for; many a rule does not apply to its own, and says why."""
    return {**QUERIES, "date-part-to-range": YEARS[dialect]}
