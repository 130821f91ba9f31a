"""The cases that BIRD's paper prints on how SQL is made faster, with the texts and percentages as printed.

Li et al. 2023, "Can LLM Already Serve as A Database Interface?", figure 1, and the examples of two-stage
optimization in the appendix, https://arxiv.org/abs/2305.03111.

The texts are plain SQL, which all three engines read: names without quotes are found in lower case on
PostgreSQL, where the loader puts them so. What one of them does not take is left out and said (`adapted`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class PaperCase:
    """One printed case.

    `saving` is the published share of time in percent that the second text, or the index, is said to save.
    `indexes` are the columns that the paper indexes instead of rewriting, as table and columns: then both
    texts are the same. `claim` is what the paper says, `to_see` what there is to find out about the rows.
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
    adapted: str = ""


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
)  # fmt: skip
"""In the order of the paper."""
