"""SQLite's functions for MariaDB: those of MySQL, with MariaDB's regular expressions."""

import re
from pathlib import Path

import loaders.functions

_REPLACED = (
    # Flags are written in the pattern, and a function of one more argument is written out.
    (
        r"REGEXP_LIKE\(value, (bird_sqlite\.glob_regex\(pattern\)), 'cn'\)",
        # It takes a pattern of NULL for one that does not match, once it has matched another.
        r"IF(pattern IS NULL, NULL, value REGEXP CONCAT('(?s)', \1))",
    ),
    (r"REGEXP_LIKE\((\w+), ('[^']*')\)", r"(\1 REGEXP \2)"),
    (r"REGEXP_SUBSTR\((\w+), ('[^']*'), (\w+)\)", r"NULLIF(REGEXP_SUBSTR(SUBSTRING(\1, \3), \2), '')"),
    (r"SET step = (REGEXP_SUBSTR\(\w+, '[^']*'\))", r"SET step = NULLIF(\1, '')"),
    (
        r"REGEXP_INSTR\((\w+), ('[^']*'), (\w+), 1, 1\)",
        (
            r"IF(SUBSTRING(\1, \3) REGEXP \2, \3 - 1 + REGEXP_INSTR(SUBSTRING(\1, \3), \2)"
            r" + CHAR_LENGTH(REGEXP_SUBSTR(SUBSTRING(\1, \3), \2)), 0)"
        ),
    ),
    (r"'\$1'", r"'\\1'"),
    # JSON is a text of another collation.
    (r"DECLARE (\w+) JSON\b", r"DECLARE \1 LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin"),
)

_ESCAPES = {"\\": "\\\\", '"': '\\"'} | {
    chr(code): {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r"}.get(code, f"\\u{code:04x}")
    for code in range(32)
}
"""How SQLite writes characters in JSON; JSON_QUOTE has capital hexadecimal digits."""


def script() -> str:
    """Return the statements."""
    text = Path(loaders.functions.__file__).with_name("mysql.sql").read_text(encoding="utf-8")
    for pattern, replacement in _REPLACED:
        text = re.sub(pattern, replacement, text)
    return f"{text.rstrip()}\n\n{_json_quoted()}"


def _json_quoted() -> str:
    """Return the statement for JSON_QUOTE with SQLite's escapes."""
    text = "LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin"
    value = "value"
    for character, escape in _ESCAPES.items():
        value = f"REPLACE({value}, _utf8mb4 X'{ord(character):02x}', _utf8mb4 X'{escape.encode().hex()}')"
    return (
        f"CREATE FUNCTION bird_sqlite.json_quoted(value {text})\n    RETURNS {text} DETERMINISTIC NO SQL\n"
        f"RETURN CONCAT('\"', {value}, '\"');\n"
    )
