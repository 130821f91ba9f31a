"""Tables with keys and indexes of every kind, and which of them a server has."""

from dialects.enums import Dialect
from loaders.namespace import Database
from loaders.server import Server
from tests.loaders.servers import ask

KEYED = """
CREATE TABLE parent (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
CREATE TABLE child (
  code TEXT PRIMARY KEY, parent_id INTEGER REFERENCES parent, parent_code TEXT REFERENCES parent (code),
  boss TEXT REFERENCES child, dangling INTEGER REFERENCES parent, note TEXT, picture BLOB
);
CREATE INDEX by_parent ON child (parent_id, note);
CREATE INDEX by_note ON child (note);
CREATE INDEX by_picture ON child (picture);
INSERT INTO parent VALUES (0, 'zero'), (1, 'one');
"""

ALL_KEYS: list[tuple[object, ...]] = [
    ("child", "FOREIGN KEY", 4),
    ("child", "PRIMARY KEY", 1),
    ("parent", "PRIMARY KEY", 1),
    ("parent", "UNIQUE", 1),
]


def kinds_of_keys(server: Server, database: Database) -> list[tuple[object, ...]]:
    place = database.mysql_database if server.dialect is Dialect.MYSQL else database.postgresql_schema
    constraints = ask(
        server,
        database,
        "SELECT table_name, constraint_type, count(*) FROM information_schema.table_constraints"
        f" WHERE table_schema = '{place}' AND constraint_type != 'CHECK'"
        " AND table_name IN ('parent', 'child') GROUP BY table_name, constraint_type",
    )
    return sorted(constraints)


def indexes(server: Server, database: Database, table: str) -> set[str]:
    if server.dialect is Dialect.MYSQL:
        return {row[2] for row in ask(server, database, f"SHOW INDEX FROM {table}")}
    place = database.postgresql_schema
    sql = f"SELECT indexname FROM pg_indexes WHERE schemaname = '{place}' AND tablename = '{table}'"
    return {name for (name,) in ask(server, database, sql)}
