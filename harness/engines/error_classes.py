"""What can be wrong with a prediction that does not match, as one closed list."""

from enum import StrEnum


class ErrorClass(StrEnum):
    """What is wrong with a prediction that does not match, by the rules of `harness.sqltree.diagnosis`."""

    SYNTAX = "syntax"
    """The engine cannot read the text, does not have the function, or refuses a statement of this kind."""
    UNKNOWN_TABLE = "unknown_table"
    """The name of a table means none, or two."""
    UNKNOWN_COLUMN = "unknown_column"
    """The name of a column means none, or several."""
    TYPE_ERROR = "type_error"
    """An operator, function or value does not fit the types, or a function the number of its arguments."""
    WRONG_TABLES = "wrong_tables"
    """It reads other tables than gold."""
    WRONG_COLUMNS = "wrong_columns"
    """It selects other columns, or in another order."""
    WRONG_CONDITION = "wrong_condition"
    """A condition or join is missing, is one more, or is another one."""
    WRONG_LITERAL = "wrong_literal"
    """The same conditions with other values."""
    WRONG_AGGREGATION = "wrong_aggregation"
    """Other aggregate functions, DISTINCT in them, grouping, or arithmetic with them."""
    WRONG_ORDER = "wrong_order"
    """Other rows are cut by ORDER BY and LIMIT."""
    OTHER = "other"
    """Nothing that the rules look at differs, or a text that runs cannot be read."""
