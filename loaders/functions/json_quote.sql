-- json_quote(text).
--
-- Source: https://sqlite.org/json1.html#jquote

-- Engine: mariadb

-- JSON_QUOTE with SQLite's escapes: it writes those of control characters with capital digits.
CREATE FUNCTION bird_sqlite.json_quoted(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CONCAT('"',
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(
    REPLACE(value,
    _utf8mb4 X'5c', _utf8mb4 X'5c5c'), _utf8mb4 X'22', _utf8mb4 X'5c22'),
    _utf8mb4 X'00', _utf8mb4 X'5c7530303030'), _utf8mb4 X'01', _utf8mb4 X'5c7530303031'),
    _utf8mb4 X'02', _utf8mb4 X'5c7530303032'), _utf8mb4 X'03', _utf8mb4 X'5c7530303033'),
    _utf8mb4 X'04', _utf8mb4 X'5c7530303034'), _utf8mb4 X'05', _utf8mb4 X'5c7530303035'),
    _utf8mb4 X'06', _utf8mb4 X'5c7530303036'), _utf8mb4 X'07', _utf8mb4 X'5c7530303037'),
    _utf8mb4 X'08', _utf8mb4 X'5c62'), _utf8mb4 X'09', _utf8mb4 X'5c74'),
    _utf8mb4 X'0a', _utf8mb4 X'5c6e'), _utf8mb4 X'0b', _utf8mb4 X'5c7530303062'),
    _utf8mb4 X'0c', _utf8mb4 X'5c66'), _utf8mb4 X'0d', _utf8mb4 X'5c72'),
    _utf8mb4 X'0e', _utf8mb4 X'5c7530303065'), _utf8mb4 X'0f', _utf8mb4 X'5c7530303066'),
    _utf8mb4 X'10', _utf8mb4 X'5c7530303130'), _utf8mb4 X'11', _utf8mb4 X'5c7530303131'),
    _utf8mb4 X'12', _utf8mb4 X'5c7530303132'), _utf8mb4 X'13', _utf8mb4 X'5c7530303133'),
    _utf8mb4 X'14', _utf8mb4 X'5c7530303134'), _utf8mb4 X'15', _utf8mb4 X'5c7530303135'),
    _utf8mb4 X'16', _utf8mb4 X'5c7530303136'), _utf8mb4 X'17', _utf8mb4 X'5c7530303137'),
    _utf8mb4 X'18', _utf8mb4 X'5c7530303138'), _utf8mb4 X'19', _utf8mb4 X'5c7530303139'),
    _utf8mb4 X'1a', _utf8mb4 X'5c7530303161'), _utf8mb4 X'1b', _utf8mb4 X'5c7530303162'),
    _utf8mb4 X'1c', _utf8mb4 X'5c7530303163'), _utf8mb4 X'1d', _utf8mb4 X'5c7530303164'),
    _utf8mb4 X'1e', _utf8mb4 X'5c7530303165'), _utf8mb4 X'1f', _utf8mb4 X'5c7530303166'), '"');

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_quote(VARCHAR) RETURNS VARCHAR LANGUAGE sqlite AS $$ json_quote(?1) $$;
