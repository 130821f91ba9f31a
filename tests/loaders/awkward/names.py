"""Names of tables and columns."""

from tests.loaders.awkward.case import EVERYWHERE, MYSQL, POSTGRESQL, Case, at, noted

CASES = (
    Case(
        "reserved, spaced and quoted names",
        """
        CREATE TABLE "select" ("from" INTEGER PRIMARY KEY, "order by" TEXT, "a""b" TEXT, "back`tick"
          TEXT, "[x]" TEXT, "semi;colon--" TEXT, "per%s%%" TEXT, "{0}" TEXT, "back\\slash" TEXT, "it's"
          TEXT, " lead" TEXT, "1st" TEXT, "a.b" TEXT, "sl/ash" TEXT, "?" TEXT, ":x" TEXT, "$1" TEXT,
          UNIQUE ("order by", "a""b"));
        INSERT INTO "select" VALUES (1, 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n',
          'o', 'p', 'q');
        CREATE TABLE "a""b.c`d" ("x y" INTEGER REFERENCES "select");
        INSERT INTO "a""b.c`d" VALUES (1);
        CREATE INDEX "in dex" ON "a""b.c`d" ("x y");
        """,
    ),
    Case(
        "names in other scripts",
        """
        CREATE TABLE "Ünïcödé 表" ("größe" TEXT PRIMARY KEY, "نص" INTEGER, "e\u0301" TEXT);
        INSERT INTO "Ünïcödé 表" VALUES ('ä', 1, 'x');
        """,
    ),
    Case(
        "an emoji for a name",
        """
        CREATE TABLE t ("😀" TEXT);
        INSERT INTO t VALUES ('😀');
        """,
        refused=at(MYSQL, "columns of t: '😀' has characters that mysql takes in values only; rename it"),
    ),
    Case(
        "names that differ in the case of a letter that SQLite does not fold",
        """
        CREATE TABLE t ("Ä" TEXT, "ä" TEXT);
        INSERT INTO t VALUES ('1', '2');
        """,
        refused=at(MYSQL, "columns of t: 'Ä' and 'ä' are one name on mysql; rename one"),
    ),
    Case(
        "names that differ in an accent",
        """
        CREATE TABLE t ("resume" TEXT, "résumé" TEXT);
        INSERT INTO t VALUES ('1', '2');
        """,
    ),
    Case(
        "tables that differ in an accent",
        """
        CREATE TABLE "resume" (a TEXT);
        CREATE TABLE "résumé" (b TEXT);
        INSERT INTO "resume" VALUES ('1');
        """,
    ),
    Case(
        "a name whose characters take three bytes each",
        f"CREATE TABLE {'表' * 60} ({'列' * 60} TEXT); INSERT INTO {'表' * 60} VALUES ('x')",
        refused=at(POSTGRESQL, "tables: '表+' is longer than postgresql's 63 bytes; rename it")
        | at(MYSQL, "tables: '表+' gives a file of mysql too long a name; rename it"),
    ),
    Case(
        "the longest names",
        f"""
        CREATE TABLE {"表" * 21} ({"列" * 21} TEXT);
        INSERT INTO {"表" * 21} VALUES ('x');
        CREATE TABLE {"T" * 63} ({"c" * 63} TEXT PRIMARY KEY, {"c" * 62} TEXT REFERENCES {"T" * 63});
        INSERT INTO {"T" * 63} VALUES ('x', 'x');
        """,
        more=noted(
            MYSQL, f"foreign key of {'T' * 63} ({'c' * 62}) to {'T' * 63} is left out: Identifier name"
        ),
    ),
    Case(
        "names that the loader uses itself",
        """
        CREATE TABLE loads (sqlite_rowid TEXT, collection INTEGER);
        INSERT INTO loads VALUES ('a', 1), ('b', 2);
        CREATE TABLE functions (SQLITE_ROWID TEXT);
        CREATE TABLE bird_harness (a INTEGER);
        """,
    ),
    Case(
        "a name of 64 characters",
        f"CREATE TABLE t ({'a' * 64} TEXT); INSERT INTO t VALUES ('x')",
        refused=at(POSTGRESQL, "columns of t: 'a+' is longer than postgresql's 63 bytes; rename it"),
    ),
    Case(
        "a name of 65 characters",
        f"CREATE TABLE {'t' * 65} (a TEXT); INSERT INTO {'t' * 65} VALUES ('x')",
        refused=at(MYSQL, "tables: 't+' is longer than mysql's 64 characters; rename it")
        | at(POSTGRESQL, "tables: 't+' is longer than postgresql's 63 bytes; rename it"),
    ),
    Case(
        "a name without a character",
        """
        CREATE TABLE t ("" TEXT);
        INSERT INTO t VALUES ('x');
        """,
        refused=at(EVERYWHERE, "columns of t: '' is no name on (mysql|postgresql); rename it"),
    ),
    Case(
        "a name with a space at the end",
        """
        CREATE TABLE "t " ("a " TEXT);
        INSERT INTO "t " VALUES ('x');
        """,
        refused=at(MYSQL, "tables: 't ' ends with a space, which is no name on mysql; rename it"),
    ),
    Case(
        "names that PostgreSQL has for itself",
        """
        CREATE TABLE t (xmin REAL, xmax REAL, ctid TEXT, oid INTEGER);
        INSERT INTO t VALUES (0.5, 1.5, 'a', 7);
        """,
        refused=at(POSTGRESQL, "columns of t: 'xmin' is a name that postgresql has for itself; rename it"),
    ),
    Case(
        "a table that PostgreSQL has for itself",
        "CREATE TABLE pg_class (a INTEGER); INSERT INTO pg_class VALUES (5)",
        refused=at(POSTGRESQL, "tables: 'pg_class' is a name that postgresql has for itself; rename it"),
    ),
    Case(
        "names that MySQL has for itself",
        "CREATE TABLE t (DB_ROW_ID INTEGER, db_trx_id TEXT); INSERT INTO t VALUES (5, 'x')",
        refused=at(MYSQL, "columns of t: 'DB_ROW_ID' is a name that mysql has for itself; rename it"),
    ),
    Case(
        "columns with the names of the rowid",
        """
        CREATE TABLE t (rowid TEXT, oid TEXT, _rowid_ TEXT);
        INSERT INTO t VALUES ('a', 'b', 'c'), (NULL, 'b', 'd');
        """,
    ),
)
