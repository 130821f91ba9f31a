-- round(x, places).
--
-- Source: https://www.sqlite.org/lang_corefunc.html#round and roundFunc() of SQLite's func.c.

-- Engine: mysql, mariadb

-- round(x, places).
CREATE FUNCTION bird_sqlite.round_to(x DOUBLE, places BIGINT) RETURNS DOUBLE DETERMINISTIC NO SQL
-- What surely_rounded does, for most calls.
RETURN IF(
    places BETWEEN 1 AND 4 AND ABS(x) BETWEEN 1 AND 1e8
        AND ROUND(CAST(x AS DECIMAL(40, 22)) * 1.000000000000001, places) = ROUND(CAST(x AS DECIMAL(40, 22)),
            places),
    ROUND(CAST(x AS DECIMAL(40, 22)), places), bird_sqlite.long_way_to_round(x, places));

CREATE FUNCTION bird_sqlite.long_way_to_round(x DOUBLE, places BIGINT) RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE n INT DEFAULT LEAST(GREATEST(bird_sqlite.int32(places), 0), 30);
    DECLARE rounded DECIMAL(65, 30);
    IF ABS(x) > 4503599627370496 OR n IS NULL OR x IS NULL THEN
        RETURN IF(n IS NULL, NULL, x);
    ELSEIF n = 0 THEN
        RETURN TRUNCATE(x + IF(x < 0, -0.5e0, 0.5e0), 0);
    END IF;
    SET rounded = bird_sqlite.surely_rounded(x, n);
    IF n <= 4 AND rounded < 100000000000 THEN
        RETURN IF(x < 0, -rounded, rounded);
    END IF;
    RETURN bird_sqlite.to_real(IF(rounded IS NULL, bird_sqlite.printed(x, 'f', n),
        CONCAT(IF(x < 0, '-', ''), TRIM(TRAILING '0' FROM rounded))));
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.round_to(x float8, places bigint) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    n int := least(greatest(bird_sqlite.int32(places), 0), 30);
    rounded numeric;
BEGIN
    IF abs(x) > 4503599627370496 THEN
        RETURN x;
    ELSIF n = 0 THEN
        RETURN trunc(x + CASE WHEN x < 0 THEN -0.5 ELSE 0.5 END);
    END IF;
    rounded := bird_sqlite.surely_rounded(x, n);
    IF n <= 4 AND rounded < 100000000000 THEN
        RETURN CASE WHEN x < 0 THEN -rounded ELSE rounded END;
    END IF;
    RETURN bird_sqlite.to_real(CASE
        WHEN rounded IS NULL THEN bird_sqlite.printed(x, 'f', n)
        WHEN x < 0 THEN trim_scale(-rounded)::text
        ELSE trim_scale(rounded)::text
    END);
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.round_to(DOUBLE, BIGINT) RETURNS DOUBLE LANGUAGE sqlite AS $$ round(?1, ?2) $$;
