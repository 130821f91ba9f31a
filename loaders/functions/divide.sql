-- a / b.
--
-- Source: https://www.sqlite.org/lang_expr.html#operators

-- Engine: mysql, mariadb

-- a / b where it is not known before which types they have: truncated if both are integers.
CREATE FUNCTION bird_sqlite.quotient(a DOUBLE, b DOUBLE, whole INT) RETURNS DOUBLE DETERMINISTIC NO SQL
RETURN IF(whole, TRUNCATE(a / b, 0), a / b);

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.quotient(a float8, b float8, whole boolean) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN whole THEN trunc(a / nullif(b, 0)) ELSE a / nullif(b, 0) END;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.quotient(DOUBLE, DOUBLE, BOOLEAN) RETURNS DOUBLE LANGUAGE sqlite AS $$ CASE WHEN ?3 THEN CAST(CAST(?1 / ?2 AS INTEGER) AS REAL) ELSE ?1 / ?2 END $$;
