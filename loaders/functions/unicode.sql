-- unicode(x).
--
-- Source: https://www.sqlite.org/lang_corefunc.html#unicode

-- Engine: mysql, mariadb

-- unicode(x).
CREATE FUNCTION bird_sqlite.unicode_of(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS BIGINT DETERMINISTIC NO SQL
RETURN NULLIF(ORD(CONVERT(LEFT(value, 1) USING utf32)), 0);

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.unicode_of(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT nullif(ascii(value), 0)::bigint $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.unicode_of(VARCHAR) RETURNS BIGINT LANGUAGE sqlite AS $$ unicode(?1) $$;
