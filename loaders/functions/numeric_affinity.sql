-- What a comparison with NUMERIC affinity makes of a text.
--
-- Source: https://www.sqlite.org/datatype3.html#type_conversions_prior_to_comparison

-- Engine: mysql, mariadb

-- The number that a comparison with NUMERIC affinity makes of a text; NULL where it stays a text.
CREATE FUNCTION bird_sqlite.as_number(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS DOUBLE DETERMINISTIC NO SQL
RETURN IF(
    CHAR_LENGTH(value) <= 15
        AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(value, '1', '0'),
        '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'), '9', '0'), '0', '')
        IN ('', '.') AND value NOT IN ('', '.')
        AND (value + 0e0) * 1e4 = ROUND((value + 0e0) * 1e4) AND ABS(value + 0e0) < 1e11,
    value + 0e0, bird_sqlite.long_way_to_number(value));

CREATE FUNCTION bird_sqlite.long_way_to_number(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE rest,
        number LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT bird_sqlite.without_space(value);
    SET number = bird_sqlite.number_at(rest);
    RETURN IF(number <> '' AND bird_sqlite.without_space(SUBSTRING(rest, CHAR_LENGTH(number) + 1)) = '',
        bird_sqlite.to_real(number), NULL);
END;

-- The INTEGER that a text is equal to where a comparison applies NUMERIC affinity; NULL if it is to none.
-- Translations write what is plain in their own words: a call takes some 20 times as long.
CREATE FUNCTION bird_sqlite.as_integer(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE number DOUBLE DEFAULT bird_sqlite.as_number(value);
    RETURN CASE
        WHEN number IS NULL THEN NULL
        WHEN bird_sqlite.is_integer(value) THEN bird_sqlite.to_integer(value)
        WHEN number >= -9223372036854775808e0 AND number < 9223372036854775808e0 AND number = TRUNCATE(number, 0)
            THEN CAST(number AS SIGNED)
    END;
END;

-- The REAL that it is equal to.
CREATE FUNCTION bird_sqlite.as_real(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE number DOUBLE DEFAULT bird_sqlite.as_number(value);
    RETURN IF(number IS NOT NULL AND bird_sqlite.is_integer(value)
        AND bird_sqlite.compared(bird_sqlite.to_integer(value), number) <> 0, NULL, number);
END;

-- A text that two of them share if they are equal as numbers, or as texts where they are none.
CREATE FUNCTION bird_sqlite.as_key(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN COALESCE(CAST(bird_sqlite.as_integer(value) AS CHAR), CAST(bird_sqlite.as_number(value) AS CHAR), value);

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.as_number(value text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF value ~ '^[ \t\n\v\f\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\v\f\r]*$' THEN
        RETURN bird_sqlite.to_real(value);
    END IF;
    RETURN NULL;
END $$;

-- What the three below make of a text that begins like a number, but is not written plainly.
CREATE FUNCTION bird_sqlite.number_as_integer(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number float8 := bird_sqlite.as_number(value);
BEGIN
    IF number IS NULL THEN
        RETURN NULL;
    ELSIF bird_sqlite.is_integer(value) THEN
        RETURN bird_sqlite.to_integer(value);
    ELSIF number >= -9223372036854775808 AND number < 9223372036854775808 AND number = trunc(number) THEN
        RETURN number::bigint;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION bird_sqlite.number_as_real(value text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number float8 := bird_sqlite.as_number(value);
BEGIN
    IF bird_sqlite.is_integer(value) AND bird_sqlite.compared(bird_sqlite.to_integer(value), number) <> 0 THEN
        RETURN NULL;
    END IF;
    RETURN number;
END $$;

CREATE FUNCTION bird_sqlite.number_as_key(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- An infinite number is no text that is none: 'Infinity' is.
    RETURN coalesce(bird_sqlite.number_as_integer(value)::text,
        replace(bird_sqlite.as_number(value)::text, 'Infinity', '9e999'), value);
END $$;

-- The INTEGER that a text is equal to where a comparison applies NUMERIC affinity; NULL if it is to none.
-- The body takes the place of a call, so that a join can hash it at little cost; a pattern takes twice the time.
CREATE FUNCTION bird_sqlite.as_integer(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(value) < 19 AND ltrim(value, '0123456789') = '' AND value <> '' THEN value::bigint
    WHEN value ~ '^-?[0-9]+$' AND length(value) < 19 THEN value::bigint
    WHEN value ~ '^[ \t\n\v\f\r]*[+-]?\.?[0-9]' THEN bird_sqlite.number_as_integer(value) END;

-- The REAL that it is equal to. Of no more than four places, so far from any half that rounding twice is
-- rounding once.
CREATE FUNCTION bird_sqlite.as_real(value text) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(value) < 16 AND ltrim(value, '0123456789') = '' AND value <> '' THEN value::float8
    WHEN value ~ '^-?[0-9]+$' AND length(value) < 16 THEN value::float8
    WHEN value ~ '^-?[0-9]+\.[0-9]?[0-9]?[0-9]?[0-9]?$' AND length(value) < 16 THEN value::float8
    WHEN value ~ '^[ \t\n\v\f\r]*[+-]?\.?[0-9]' THEN bird_sqlite.number_as_real(value) END;

CREATE FUNCTION bird_sqlite.as_key(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value ~ '^(0|-?[1-9][0-9]*)$' AND length(value) < 19 THEN value
    WHEN value ~ '^[ \t\n\v\f\r]*[+-]?\.?[0-9]' THEN bird_sqlite.number_as_key(value) ELSE value END;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.as_number(VARCHAR) RETURNS DOUBLE LANGUAGE python;
CREATE FUNCTION bird_sqlite.as_integer(VARCHAR) RETURNS BIGINT LANGUAGE python;
CREATE FUNCTION bird_sqlite.as_real(VARCHAR) RETURNS DOUBLE LANGUAGE python;
CREATE FUNCTION bird_sqlite.as_key(VARCHAR) RETURNS VARCHAR LANGUAGE python;
