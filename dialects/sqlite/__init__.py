"""The facts about SQLite, the dialect that is translated."""

from dialects.facts import Facts

SQLGLOT = "sqlite"

FACTS = Facts(
    title="SQLite",
    fold=lambda name: name.name.lower(),
    table=lambda table: table.name.lower(),
    column=lambda column: column.name.lower(),
    spelled=lambda column: column.name,
    # 1 and 1.0 are the same value to whoever compares results.
    is_exact=lambda column, _profile: column.collation == "BINARY",
    enforces=False,
    merges=lambda _column, _profile: False,
    dates=lambda column, _profile: "text" if column.days or column.moments else None,
)
