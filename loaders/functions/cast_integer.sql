-- CAST(... AS INTEGER), and whether a text counts as an INTEGER.
--
-- Source: https://www.sqlite.org/lang_expr.html#castexpr

-- Engine: mysql, mariadb

-- CAST(text AS INTEGER).
CREATE FUNCTION bird_sqlite.to_integer(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(CHAR_LENGTH(value) <= 15 AND NOT LOCATE('e', value) AND NOT LOCATE('E', value),
    CAST(TRUNCATE(value + 0e0, 0) AS SIGNED),
    bird_sqlite.long_way_to_integer(value));

CREATE FUNCTION bird_sqlite.long_way_to_integer(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE rest,
        digits LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT bird_sqlite.without_space(value);
    DECLARE size INT;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    SET digits = bird_sqlite.masked(IF(LEFT(rest, 1) IN ('-', '+'), SUBSTRING(rest, 2), rest)),
        size = CHAR_LENGTH(digits) - CHAR_LENGTH(TRIM(LEADING '0' FROM digits)),
        digits = TRIM(LEADING '0' FROM SUBSTRING(rest, 1 + (LEFT(rest, 1) IN ('-', '+')), size));
    RETURN CASE
        WHEN CHAR_LENGTH(digits) > 19 OR CHAR_LENGTH(digits) = 19 AND digits > '9223372036854775807'
            THEN IF(LEFT(rest, 1) = '-', -9223372036854775808, 9223372036854775807)
        WHEN digits = '' THEN 0
        ELSE IF(LEFT(rest, 1) = '-', -CAST(digits AS SIGNED), CAST(digits AS SIGNED))
    END;
END;

-- Whether arithmetic takes a text for an INTEGER.
CREATE FUNCTION bird_sqlite.is_integer(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN CASE
    WHEN CHAR_LENGTH(value) <= 18 AND NOT LOCATE('.', value) AND NOT LOCATE('e', value) AND NOT LOCATE('E',
        value) THEN TRUE
    WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(value, '1', '0'),
        '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'), '9', '0'), '0',
        '') = '.' AND value <> '.' THEN FALSE
    ELSE bird_sqlite.long_way_to_is_integer(value)
END;

CREATE FUNCTION bird_sqlite.long_way_to_is_integer(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BOOLEAN DETERMINISTIC NO SQL
BEGIN
    DECLARE number,
        digits LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT bird_sqlite.number_at(bird_sqlite.without_space(value));
    SET digits = TRIM(LEADING '0' FROM TRIM(LEADING '-' FROM TRIM(LEADING '+' FROM number)));
    RETURN NOT LOCATE('.', number) AND NOT LOCATE('e', LOWER(number))
        AND (CHAR_LENGTH(digits) < 19 OR CHAR_LENGTH(digits) = 19
        AND digits <= IF(LEFT(number, 1) = '-', '9223372036854775808', '9223372036854775807'));
END;

-- CAST(real AS INTEGER).
CREATE FUNCTION bird_sqlite.real_to_integer(x DOUBLE) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    WHEN x >= 9223372036854775807e0 THEN 9223372036854775807
    WHEN x <= -9223372036854775808e0 THEN -9223372036854775808
    ELSE CAST(TRUNCATE(x, 0) AS SIGNED)
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.to_integer(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number text;
    digits text;
BEGIN
    IF value ~ '^[+-]?[0-9]{1,18}$' THEN
        RETURN value::bigint;
    END IF;
    number := substring(value FROM '^[ \t\n\v\f\r]*([+-]?[0-9]+)');
    digits := ltrim(number, '+-0');
    RETURN CASE
        WHEN number IS NULL THEN 0
        WHEN length(digits) < 19 OR length(digits) = 19 AND digits <= '9223372036854775807'
            THEN number::bigint
        WHEN left(number, 1) = '-' THEN -9223372036854775808
        ELSE 9223372036854775807
    END;
END $$;

CREATE FUNCTION bird_sqlite.is_integer(value text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number text;
    digits text;
BEGIN
    IF value ~ '^[+-]?[0-9]{1,18}$' THEN
        RETURN true;
    ELSIF value ~ '^[ \t\n\v\f\r]*[+-]?([0-9]+\.|\.[0-9]|[0-9]+[eE][+-]?[0-9])' THEN
        RETURN false;
    END IF;
    number := substring(value FROM '^[ \t\n\v\f\r]*([+-]?[0-9]+)');
    digits := ltrim(number, '+-0');
    RETURN number IS NULL OR length(digits) < 19 OR length(digits) = 19
        AND digits <= CASE WHEN left(number, 1) = '-' THEN '9223372036854775808'
            ELSE '9223372036854775807' END;
END $$;

CREATE FUNCTION bird_sqlite.real_to_integer(x float8) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE
        WHEN x >= 9223372036854775807 THEN 9223372036854775807
        WHEN x <= -9223372036854775808 THEN -9223372036854775808
        ELSE trunc(x)::bigint
    END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.to_integer(VARCHAR) RETURNS BIGINT LANGUAGE sqlite AS $$ CAST(?1 AS INTEGER) $$;
CREATE FUNCTION bird_sqlite.is_integer(VARCHAR) RETURNS BOOLEAN LANGUAGE python;
CREATE FUNCTION bird_sqlite.real_to_integer(DOUBLE) RETURNS BIGINT LANGUAGE sqlite AS $$ CAST(?1 AS INTEGER) $$;
