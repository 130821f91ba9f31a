-- julianday() of a moment.
--
-- Source: https://www.sqlite.org/lang_datefunc.html

-- Engine: mysql, mariadb

-- julianday(moment).
CREATE FUNCTION bird_sqlite.julian_of(moment BIGINT) RETURNS DOUBLE DETERMINISTIC NO SQL
RETURN CASE
    WHEN moment BETWEEN 0 AND 464269060799999 THEN moment / 86400000e0
    WHEN moment >= 144115188075855872 THEN bird_sqlite.milliseconds_of(moment) / 86400000e0
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.julian_of(moment bigint) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := bird_sqlite.milliseconds_of(moment);
BEGIN
    RETURN CASE WHEN instant BETWEEN 0 AND 464269060799999 THEN instant / 86400000::float8 END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.julian_of(BIGINT) RETURNS DOUBLE LANGUAGE python;
