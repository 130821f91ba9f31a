-- The comparison of an integer with a real, both exact.
--
-- Source: https://www.sqlite.org/datatype3.html#comparison_expressions

-- Engine: mysql, mariadb

-- -1, 0 or 1: an integer beside a real, both exact.
CREATE FUNCTION bird_sqlite.compared(a BIGINT, b DOUBLE) RETURNS INT DETERMINISTIC NO SQL
RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b >= 9223372036854775808e0 THEN -1 WHEN b < -9223372036854775808e0 THEN 1
    WHEN a < CAST(TRUNCATE(b, 0) AS SIGNED) THEN -1 WHEN a > CAST(TRUNCATE(b, 0) AS SIGNED) THEN 1
    WHEN TRUNCATE(b, 0) < b THEN -1 WHEN TRUNCATE(b, 0) > b THEN 1 ELSE 0 END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.compared(a bigint, b float8) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL
    WHEN b >= 9223372036854775808 THEN -1 WHEN b < -9223372036854775808 THEN 1
    WHEN a < trunc(b)::bigint THEN -1 WHEN a > trunc(b)::bigint THEN 1
    WHEN trunc(b) < b THEN -1 WHEN trunc(b) > b THEN 1 ELSE 0 END;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.compared(BIGINT, DOUBLE) RETURNS BIGINT LANGUAGE sqlite AS $$ (?1 > ?2) - (?1 < ?2) $$;
