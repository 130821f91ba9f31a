-- unixepoch() of a moment.
--
-- Source: https://www.sqlite.org/lang_datefunc.html

-- Engine: mysql, mariadb

-- unixepoch(moment).
CREATE FUNCTION bird_sqlite.unix_of(moment BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    WHEN moment BETWEEN 0 AND 464269060799999 THEN moment DIV 1000 - 210866760000
    WHEN moment >= 144115188075855872 THEN bird_sqlite.milliseconds_of(moment) DIV 1000 - 210866760000
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.unix_of(moment bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := bird_sqlite.milliseconds_of(moment);
BEGIN
    RETURN CASE WHEN instant BETWEEN 0 AND 464269060799999 THEN instant / 1000 - 210866760000 END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.unix_of(BIGINT) RETURNS BIGINT LANGUAGE python;
