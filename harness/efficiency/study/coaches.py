"""A generated database for figure 1 of BIRD's paper, whose own is a training database of 33 GB with others.

The table `coaches` with the columns that the texts name and the primary key of the published one; seasons of
made-up coaches, with ties in what is sorted by.
"""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

ROWS = (1_700, 17_000)
"""How many seasons the studied tables have: about as many as the published one, and ten times as many."""

_SEASONS = 60
_TABLE = (
    "CREATE TABLE coaches (coachID TEXT NOT NULL, year INTEGER NOT NULL, tmID TEXT NOT NULL, lgID TEXT,"
    " stint INTEGER NOT NULL, won INTEGER, lost INTEGER, post_wins INTEGER, post_losses INTEGER,"
    " PRIMARY KEY (coachID, year, tmID, stint))"
)


def make_coaches(path: Path, rows: int) -> Path:
    """Write the database; the same rows every time.

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
