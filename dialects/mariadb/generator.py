"""Write a compiled tree as SQL for MariaDB 11.8 and later: as for MySQL, with the differences."""

from typing import ClassVar

from sqlglot import exp

from dialects import nodes
from dialects.mysql.generator import MySQL


class MariaDB(MySQL):
    """For sessions as `MySQL`."""

    COLUMNS: ClassVar = (*MySQL.COLUMNS, "mariadb")

    def row(self, node: exp.Expr) -> str:
        """See `TargetGenerator.row`. https://mariadb.com/kb/en/table-value-constructors/."""
        return self.sql(node)

    def fits(self, node: nodes.Fits) -> str:
        """Match case-sensitively, whatever the collation. https://mariadb.com/kb/en/pcre/."""
        pattern = self.quoted(f"(?-i)^({node.expression.this})\\z")
        return f"({self.sql(node.this)} REGEXP {pattern})"


GENERATOR = MariaDB()
