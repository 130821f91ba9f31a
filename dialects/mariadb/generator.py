"""Write a compiled tree as SQL for MariaDB 11.8 and later: as for MySQL, with the differences."""

import re
from typing import ClassVar

from sqlglot import exp

from dialects import identifiers, nodes
from dialects.mysql.generator import SHAPES, MySQL


class MariaDB(MySQL):
    """For sessions as `MySQL`."""

    COLUMNS: ClassVar = (*MySQL.COLUMNS, "mariadb")
    SHAPES: ClassVar = {
        name: re.sub(r"REGEXP_LIKE\(\{text\}, ('[^']*')\)", r"({text} REGEXP \1)", shape)
        for name, shape in SHAPES.items()
    }

    def row(self, node: exp.Expr) -> str:
        """See `TargetGenerator.row`. https://mariadb.com/kb/en/table-value-constructors/."""
        return self.sql(node)

    def fits(self, node: nodes.Fits) -> str:
        """Match case-sensitively, whatever the collation. https://mariadb.com/kb/en/pcre/."""
        pattern = self.quoted(f"(?-i)^({node.expression.this})\\z")
        return f"({self.sql(node.this)} REGEXP {pattern})"

    def json_string(self, node: nodes.JSONString) -> str:
        """Call a stored function where JSON_QUOTE would write capital hexadecimal digits."""
        text = self.sql(node.this)
        call = f"{identifiers.FUNCTIONS_NAMESPACE}.json_quoted({text})"
        if not isinstance(node.this, exp.Column):
            return call
        has_any = f"{text} REGEXP '[\\\\x0b\\\\x0e\\\\x0f\\\\x1a-\\\\x1f]'"
        return f"CASE WHEN {has_any} THEN {call} ELSE JSON_QUOTE({text}) COLLATE utf8mb4_0900_bin END"


GENERATOR = MariaDB()
