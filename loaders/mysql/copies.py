"""MySQL's statements for the keys and indexes of copies (`loaders.index_copies`)."""

from loaders.index_copies import IndexSql
from loaders.namespace import NAMESPACE

SQL = IndexSql(
    lock=f"SELECT GET_LOCK('{NAMESPACE} study', 0) = 1",
    databases="SELECT schema_name FROM information_schema.schemata",
    add="ALTER TABLE {table} ADD INDEX {name} {columns}",
    drop="ALTER TABLE {table} DROP INDEX {name}",
    keyed="SELECT table_name, index_name FROM information_schema.statistics"
    " WHERE table_schema = %(place)s AND index_name = 'PRIMARY' AND seq_in_index = 1",
    # InnoDB rebuilds the table in its previous order.
    drop_key=("ALTER TABLE {table} DROP PRIMARY KEY", "ANALYZE TABLE {table}"),
    # Pages counted by its persistent statistics. A table is stored in its primary key or a hidden one, so
    # the size of that index is the table's.
    # https://dev.mysql.com/doc/refman/9.7/en/innodb-persistent-stats.html, innodb-index-types.html
    sizes="SELECT table_name, if(index_name IN ('PRIMARY', 'GEN_CLUST_INDEX'), '', index_name),"
    " stat_value * @@innodb_page_size FROM mysql.innodb_index_stats"
    " WHERE database_name = %(place)s AND stat_name = 'size'",
)
