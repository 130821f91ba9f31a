-- a << n and a >> n.
--
-- Source: https://www.sqlite.org/lang_expr.html#operators

-- Engine: mysql, mariadb

-- a << n, to the right where n is negative; all bits can be shifted out.
CREATE FUNCTION bird_sqlite.shifted(a BIGINT, n BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE WHEN a IS NULL OR n IS NULL THEN NULL WHEN n >= 64 THEN 0 WHEN n <= -64 THEN IF(a < 0, -1, 0)
    WHEN n >= 0 THEN CAST(a << n AS SIGNED) WHEN a >= 0 THEN CAST(a >> -n AS SIGNED) ELSE CAST(~(~a >> -n) AS SIGNED) END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.shifted(a bigint, n bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN n >= 64 THEN a - a WHEN n <= -64 THEN CASE WHEN a < 0 THEN -1 WHEN a >= 0 THEN 0 END
    WHEN n >= 0 THEN a << n::int ELSE a >> (-n)::int END;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.shifted(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE sqlite AS $$ ?1 << ?2 $$;
