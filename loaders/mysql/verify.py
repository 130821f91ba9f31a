"""What verification knows about MySQL and MariaDB: types (MariaDB shows widths), names, SQL for hashes."""

from loaders.verify.forms import SUMMAND, ValueForm
from loaders.verify.sides import HEAD, HashSql
from loaders.verify.tables import ColumnContents, Storage

STORAGE = Storage(
    faithful={
        ColumnContents.INTEGERS: (r"bigint(?:\(20\))?", ValueForm.INTEGER),
        ColumnContents.REALS: ("double", ValueForm.DOUBLE),
        ColumnContents.TEXTS: (r"text|longtext|varchar\(\d+\)", ValueForm.TEXT),
        ColumnContents.BLOBS: ("longblob", ValueForm.BLOB),
    },
    official={
        ColumnContents.DAYS: ("date", ValueForm.DAY),
        ColumnContents.MOMENTS: (r"datetime(\(6\))?", ValueForm.MOMENT),
    },
    table=str.lower,
    has_place=True,
)

# Only functions for points return the bits of a double: a point's internal format ends with its two
# coordinates. https://dev.mysql.com/doc/refman/9.7/en/gis-data-formats.html
# To avoid evaluation for every use, MySQL would materialize the hashes, which is slower for one sum.
HASHES = HashSql(
    begin=("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",),
    database="SELECT 1 FROM information_schema.schemata WHERE schema_name = %s",
    # The character set is added to a text's type unless it is utf8mb4.
    columns="SELECT tables.table_name, column_name, concat_ws(' ', convert(column_type USING utf8mb4),"
    " nullif(character_set_name, 'utf8mb4')) FROM information_schema.tables AS tables"
    " LEFT JOIN information_schema.columns AS columns ON columns.table_schema = tables.table_schema"
    " AND columns.table_name = tables.table_name"
    " WHERE tables.table_schema = %s ORDER BY tables.table_name, ordinal_position",
    heads={
        ValueForm.INTEGER: "{0}",
        ValueForm.DOUBLE: "lower(hex(reverse(substr(point({0}, 0), 10, 8))))",
        ValueForm.TEXT: "length({0})",
        ValueForm.LONG_TEXT: "sha2({0}, 256)",
        ValueForm.BLOB: "sha2({0}, 256)",
        ValueForm.DAY: "{0}",
        ValueForm.MOMENT: "if(microsecond({0}),"
        " trim(trailing '0' from date_format({0}, '%Y-%m-%d %H:%i:%s.%f')),"
        " date_format({0}, '%Y-%m-%d %H:%i:%s'))",
    },
    text="{0}",
    converted="convert({0} USING utf8mb4)",
    sha="sha2({0}, 256)",
    summand=f"cast(conv(left({{0}}, {SUMMAND}), 16, 10) AS unsigned)",
    shown={},
    short={ValueForm.BLOB: f"concat('0x', lower(hex(left({{0}}, {HEAD}))))"},
)
