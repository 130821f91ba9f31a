"""The cases that BIRD's paper prints on how SQL is made faster, with the texts and percentages as printed.

Li et al. 2023, "Can LLM Already Serve as A Database Interface?", figure 1, and the examples of two-stage
optimization in the appendix, https://arxiv.org/abs/2305.03111.

The texts are plain SQL, which all three engines read: PostgreSQL finds names without quotes in lower case,
where the loader has put them. Figure 1 has `ORDER BY NULL` in the subquery, which orders nothing; not every
engine takes it, and it is left out.
"""

import random
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

ROWS = (1_700, 17_000)
"""How many seasons the studied tables have: about as many as the published one, and ten times as many."""

_SEASONS = 60
_TABLE = (
    "CREATE TABLE coaches (coachID TEXT NOT NULL, year INTEGER NOT NULL, tmID TEXT NOT NULL, lgID TEXT,"
    " stint INTEGER NOT NULL, won INTEGER, lost INTEGER, post_wins INTEGER, post_losses INTEGER,"
    " PRIMARY KEY (coachID, year, tmID, stint))"
)


@dataclass(frozen=True)
class PaperCase:
    """One printed case.

    `saving` is the published share of time in percent that the second text, or the indexes, are said to save.
    `indexes` are what the paper adds instead of rewriting, as tables and columns: then both texts are the
    same. `db_id` is empty where the database is generated (`make_coaches`). `claim` is
    what the paper says of it.
    """

    name: str
    title: str
    db_id: str
    rule: str
    original: str
    rewritten: str
    saving: float
    claim: str
    indexes: tuple[tuple[str, tuple[str, ...]], ...] = ()


_PISEK = (
    "SELECT COUNT(*) FROM account AS a INNER JOIN district AS d ON a.district_id = d.district_id"
    " WHERE d.A2 = 'Pisek'"
)

CASES = (
    PaperCase(
        "1.1",
        "ages in Vienna with a badge",
        "codebase_community",
        "IN (subquery) to JOIN",
        "SELECT Age FROM users WHERE Location = 'Vienna, Austria' AND Id IN (SELECT UserId FROM badges)",
        "SELECT u.Age FROM users AS u INNER JOIN badges AS b ON u.Id = b.UserId"
        " WHERE u.Location = 'Vienna, Austria'",
        99.92,
        "a JOIN is faster than IN",
    ),
    PaperCase(
        "1.2",
        "members from Maryland",
        "student_club",
        "COUNT(*) to COUNT(primary key)",
        "SELECT COUNT(*) FROM member INNER JOIN zip_code ON member.zip = zip_code.zip_code"
        " WHERE zip_code.state = 'Maryland'",
        "SELECT COUNT(member.member_id) FROM member INNER JOIN zip_code ON member.zip = zip_code.zip_code"
        " WHERE zip_code.state = 'Maryland'",
        67.93,
        "counting a key is faster than counting rows",
    ),
    PaperCase(
        "1.3",
        "owner of the largest loan",
        "financial",
        "ORDER BY LIMIT 1 to = (SELECT MAX)",
        "SELECT c.client_id FROM client AS c INNER JOIN disp AS d ON c.client_id = d.client_id"
        " INNER JOIN loan AS l ON d.account_id = l.account_id ORDER BY l.amount DESC LIMIT 1",
        "SELECT c.client_id FROM client AS c INNER JOIN disp AS d ON c.client_id = d.client_id"
        " INNER JOIN loan AS l ON d.account_id = l.account_id"
        " WHERE l.amount = (SELECT MAX(amount) FROM loan)",
        62.39,
        "finding the maximum is faster than sorting",
    ),
    PaperCase(
        "2.1",
        "accounts in Pisek",
        "financial",
        "indexes",
        _PISEK,
        _PISEK,
        87.27,
        "two indexes save most of the time",
        indexes=(("account", ("district_id",)), ("district", ("district_id",))),
    ),
    PaperCase(
        "Figure 1",
        "coaches of two teams",
        "",
        "IN (subquery) to EXISTS",
        "SELECT coachID FROM coaches WHERE lgID = 'NBA' AND post_wins != 0 AND post_losses != 0"
        " AND coachID IN (SELECT coachID FROM coaches WHERE lgID = 'NBA' GROUP BY coachID"
        " HAVING COUNT(tmID) >= 2) ORDER BY post_losses ASC LIMIT 1",
        "SELECT coachID FROM coaches WHERE lgID = 'NBA' AND post_wins != 0 AND post_losses != 0"
        " AND EXISTS (SELECT 1 FROM coaches AS coaches1 WHERE coaches1.lgID = 'NBA'"
        " AND coaches.coachID = coaches1.coachID GROUP BY coaches1.coachID"
        " HAVING COUNT(coaches1.tmID) >= 2) ORDER BY coaches.post_losses ASC LIMIT 1",
        82.14,
        "EXISTS is faster than IN: 4.0 s instead of 22.4 s",
    ),
)  # fmt: skip
"""In the order of the paper."""


def make_coaches(path: Path, rows: int) -> Path:
    """Write a database for figure 1, whose own is a training database of 33 GB with others.

    The table `coaches` with the columns that the texts name and the primary key of the published one;
    seasons of made-up coaches, with ties in what is sorted by; the same rows every time.

    Args:
        path: a file that is not there yet.
        rows: how many seasons of coaches.
    """
    chance = random.Random(rows)  # noqa: S311 - it has to come out the same again
    seasons: dict[tuple[str, int, str, int], tuple[str, int, int, int, int]] = {}
    while len(seasons) < rows:
        coach = f"coach{chance.randrange(max(rows // 6, 1)):06d}"
        key = (coach, 2012 - chance.randrange(_SEASONS), f"T{chance.randrange(40):02d}", chance.randint(1, 2))
        played = chance.random() < 0.5  # noqa: PLR2004 - of seasons, a half goes on
        after = (chance.randint(0, 16), chance.randint(0, 12)) if played else (0, 0)
        league = chance.choices(("NBA", "ABA"), (9, 1))[0]
        seasons[key] = (league, chance.randint(10, 70), chance.randint(10, 70), *after)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(_TABLE)
        connection.executemany(
            "INSERT INTO coaches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (coach, year, team, league, stint, *rest)
                for (coach, year, team, stint), (league, *rest) in seasons.items()
            ],
        )
        connection.commit()
    return path
