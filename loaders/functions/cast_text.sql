-- CAST(real AS TEXT): 15 significant digits, and always a fraction.
--
-- Source: https://www.sqlite.org/lang_expr.html#castexpr and https://www.sqlite.org/printf.html ('%!.15g').

-- Engine: mysql, mariadb

-- CAST(real AS TEXT).
CREATE FUNCTION bird_sqlite.real_to_text(x DOUBLE)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CASE
    WHEN x = 0 THEN '0.0'
    WHEN ABS(x) >= 1e15 OR ABS(x) < 1e-4 OR CHAR_LENGTH(x) > 16 THEN bird_sqlite.long_way_to_text(x)
    WHEN LOCATE('.', x) THEN x
    ELSE CONCAT(x, '.0')
END;

CREATE FUNCTION bird_sqlite.long_way_to_text(x DOUBLE)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE shortest, number,
        digits VARCHAR(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT ABS(x);
    DECLARE exponent, size INT;
    IF x IS NULL THEN
        RETURN NULL;
    END IF;
    SET number = SUBSTRING_INDEX(shortest, 'e', 1), digits = TRIM(LEADING '0' FROM REPLACE(number, '.', '')),
        exponent = CHAR_LENGTH(SUBSTRING_INDEX(number, '.', 1)) - 1
            - CASE WHEN number < 1 THEN CHAR_LENGTH(REPLACE(number, '.', '')) - CHAR_LENGTH(digits) ELSE 0 END
            + IF(LOCATE('e', shortest), SUBSTRING_INDEX(shortest, 'e', -1), 0),
        digits = TRIM(TRAILING '0' FROM digits);
    SET size = CHAR_LENGTH(digits);
    IF size = 16 AND RIGHT(digits, 1) = '5' THEN
        SET digits = CAST(digits AS DECIMAL(65)) + bird_sqlite.side_of_half(x, number, exponent);
    END IF;
    IF digits IS NULL OR ABS(x) < 1e-290 OR ABS(x) > 1e300 THEN
        RETURN bird_sqlite.printed(x, 'G', 15);
    ELSEIF size > 15 THEN
        SET digits = ROUND(CAST(digits AS DECIMAL(65)), 15 - size), exponent = exponent
            + CHAR_LENGTH(digits) - size,
            digits = TRIM(TRAILING '0' FROM digits);
    END IF;
    RETURN CONCAT(IF(x < 0, '-', ''), CASE
        WHEN exponent < -4 OR exponent > 14 THEN CONCAT(LEFT(digits, 1), '.', IF(CHAR_LENGTH(digits) > 1,
            SUBSTRING(digits, 2), '0'),
            'e', IF(exponent < 0, '-', '+'), LPAD(ABS(exponent), GREATEST(2, CHAR_LENGTH(ABS(exponent))),
                '0'))
        WHEN exponent < 0 THEN CONCAT('0.', REPEAT('0', -exponent - 1), digits)
        WHEN CHAR_LENGTH(digits) <= exponent + 1 THEN CONCAT(RPAD(digits, exponent + 1, '0'), '.0')
        ELSE CONCAT(LEFT(digits, exponent + 1), '.', SUBSTRING(digits, exponent + 2))
    END);
END;

-- Of a decimal that rounds to x: -1 or 1 as x lies below or above it, NULL if that is too close to call or x is
-- not between 1e-4 and 1e15.
CREATE FUNCTION bird_sqlite.side_of_half(x DOUBLE,
    shortest VARCHAR(400) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, exponent INT)
RETURNS INT DETERMINISTIC NO SQL
BEGIN
    DECLARE shift INT DEFAULT 53 - FLOOR(LOG2(ABS(x)));
    DECLARE scale, gap DECIMAL(65) DEFAULT 1000000000000000000000000000000;
    IF exponent < -4 OR exponent > 14 THEN
        RETURN NULL;
    END IF;
    SET gap = CAST(ABS(x) * POW(2,
        shift) AS UNSIGNED) * scale / bird_sqlite.power_of_two(shift) - CAST(shortest AS DECIMAL(65,
        30)) * scale;
    RETURN IF(ABS(gap) < 1e-18 * POW(10, exponent) * 1e30, NULL, SIGN(gap));
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.real_to_text(x float8) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    shortest text := x;
    size float8 := abs(x);
    gap numeric;
    at int;
BEGIN
    IF size >= 1e-4 AND size <= 999999999999999 THEN
        IF length(shortest) > 16 THEN
            -- Of 16 digits that end in 5, what counts is on which side of the half the double lies.
            IF right(shortest, 1) = '5' AND length(ltrim(translate(shortest, '-.', ''), '0')) = 16 THEN
                gap := bird_sqlite.exact(x) - shortest::numeric;
                IF abs(gap) <= 1e-18 * size::numeric THEN
                    RETURN bird_sqlite.printed(x, 'G', 15);
                END IF;
            END IF;
            shortest := x::numeric;
        END IF;
    ELSIF size = 0 THEN
        RETURN '0.0';
    ELSIF size = 'Infinity' THEN
        RETURN CASE WHEN x > 0 THEN 'Inf' ELSE '-Inf' END;
    ELSIF size < 1e-290 OR size > 1e300 OR length(translate(split_part(shortest, 'e', 1), '-.', '')) > 15 THEN
        RETURN bird_sqlite.printed(x, 'G', 15);
    END IF;
    IF strpos(shortest, '.') > 0 THEN
        RETURN shortest;
    END IF;
    at := strpos(shortest, 'e');
    RETURN CASE WHEN at = 0 THEN shortest || '.0' ELSE overlay(shortest PLACING '.0' FROM at FOR 0) END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.real_to_text(DOUBLE) RETURNS VARCHAR LANGUAGE sqlite AS $$ CAST(?1 AS TEXT) $$;
