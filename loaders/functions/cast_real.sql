-- CAST(text AS REAL): the longest prefix of a text that is a number.
--
-- Source: https://www.sqlite.org/lang_expr.html#castexpr and sqlite3AtoF() of SQLite's util.c.

-- Engine: mysql, mariadb

-- 10^e as SQLite multiplies it up; exact to 10^27.
CREATE FUNCTION bird_sqlite.long_power_of_ten(e INT) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
BEGIN
    DECLARE rest INT DEFAULT e;
    DECLARE factor DECIMAL(65) DEFAULT bird_sqlite.long_of(10, 0);
    DECLARE product DECIMAL(65) DEFAULT bird_sqlite.long_of(1, 0);
    WHILE rest > 0 DO
        IF rest % 2 = 1 THEN
            SET product = bird_sqlite.long_product(product, factor);
        END IF;
        SET rest = rest DIV 2;
        IF rest > 0 THEN
            SET factor = bird_sqlite.long_product(factor, factor);
        END IF;
    END WHILE;
    RETURN product;
END;

-- digits * 10^e as SQLite reads it: rounded to 64 bits first, to 53 bits then. 0 <= digits < 2^63. There is no
-- infinity here: the largest double stands for it.
CREATE FUNCTION bird_sqlite.real_of(digits BIGINT, e INT) RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE s BIGINT DEFAULT digits;
    DECLARE size INT DEFAULT ABS(e);
    DECLARE factor DOUBLE;
    WHILE size > 0 AND s <> 0 AND IF(e > 0, s < 922337203685477580, s % 10 = 0) DO
        SET s = IF(e > 0, s * 10, s DIV 10), size = size - 1;
    END WHILE;
    IF s = 0 OR size = 0 THEN
        RETURN s;
    ELSEIF size >= 342 THEN
        RETURN IF(e < 0, 0, 1.7976931348623157e308);
    ELSEIF e < 0 AND size <= 4 AND s < 1000000000000000 THEN
        RETURN s / POW(10, size);
    ELSEIF size > 307 THEN
        SET factor = bird_sqlite.double_of_long(IF(e < 0,
            bird_sqlite.long_quotient(bird_sqlite.long_of(s, 0), bird_sqlite.long_power_of_ten(size - 308)),
            bird_sqlite.long_product(bird_sqlite.long_of(s, 0), bird_sqlite.long_power_of_ten(size - 308))));
        RETURN CASE
            WHEN e < 0 THEN factor / 1e308
            WHEN factor < 1.797693134862316 THEN factor * 1e308
            ELSE 1.7976931348623157e308
        END;
    END IF;
    RETURN bird_sqlite.double_of_long(IF(e < 0,
        bird_sqlite.long_quotient(bird_sqlite.long_of(s, 0), bird_sqlite.long_power_of_ten(size)),
        bird_sqlite.long_product(bird_sqlite.long_of(s, 0), bird_sqlite.long_power_of_ten(size))));
END;

-- CAST(text AS REAL).
CREATE FUNCTION bird_sqlite.to_real(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS DOUBLE DETERMINISTIC NO SQL
-- No more than four places: so far from any half that rounding twice is rounding once.
RETURN CASE
    WHEN CHAR_LENGTH(value) <= 15 AND ABS(value + 0e0) < 1e11 AND (value + 0e0) * 1e4 = ROUND((value
        + 0e0) * 1e4) THEN value + 0e0
    WHEN CHAR_LENGTH(value) <= 18
        AND REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(value, '1', '0'),
        '2', '0'), '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'), '9', '0'), '0', '')
        IN ('.', '-.') AND SUBSTRING(value, 2) NOT LIKE '%-%'
        THEN IF(LEFT(value, 1) = '-', -bird_sqlite.rounded_twice(SUBSTRING(value, 2)),
            bird_sqlite.rounded_twice(value))
    ELSE bird_sqlite.long_way_to_real(value)
END;

-- A decimal of at most 18 digits to 64 bits, then to 53. None lies on a half of the former.
CREATE FUNCTION bird_sqlite.rounded_twice(exact DECIMAL(36, 18)) RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE shift INT DEFAULT 63 - FLOOR(LOG2(exact));
    DECLARE bits DECIMAL(65, 30) DEFAULT ROUND(exact * CAST(1 << LEAST(shift,
        62) AS DECIMAL(20)) * CAST(1 << GREATEST(shift - 62, 0) AS DECIMAL(20)));
    IF exact = 0 THEN
        RETURN 0;
    ELSEIF bits >= 18446744073709551616 OR bits < 9223372036854775808 THEN
        SET shift = shift + IF(bits < 9223372036854775808, 1, -1),
            bits = ROUND(exact * bird_sqlite.power_of_two(shift));
    END IF;
    RETURN CAST(CAST(bits AS UNSIGNED) AS DOUBLE) / POW(2, shift);
END;

CREATE FUNCTION bird_sqlite.long_way_to_real(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE number, fraction, power, digits, whole LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE negative BOOLEAN;
    DECLARE kept, consumed INT;
    DECLARE size DOUBLE;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    SET number = bird_sqlite.number_at(bird_sqlite.without_space(value)), negative = LEFT(number, 1) = '-',
        number = LOWER(TRIM(LEADING '+' FROM TRIM(LEADING '-' FROM number))),
        power = IF(LOCATE('e', number), SUBSTRING_INDEX(number, 'e', -1), ''),
        number = SUBSTRING_INDEX(number, 'e', 1),
        whole = TRIM(LEADING '0' FROM SUBSTRING_INDEX(number, '.', 1)),
        fraction = IF(LOCATE('.', number), SUBSTRING_INDEX(number, '.', -1), ''),
        digits = TRIM(LEADING '0' FROM CONCAT(whole, fraction));
    IF digits = '' THEN
        RETURN 0;
    ELSEIF power = '' AND CHAR_LENGTH(digits) <= 18 AND CHAR_LENGTH(fraction) <= 18 THEN
        SET size = bird_sqlite.rounded_twice(number);
    ELSE
        SET kept = LEAST(CHAR_LENGTH(digits), IF(LEFT(digits, 18) >= '922337203685477579', 18, 19)),
            consumed = CHAR_LENGTH(whole) + CHAR_LENGTH(fraction) - CHAR_LENGTH(digits) + kept,
            size = bird_sqlite.real_of(LEFT(digits, kept), CHAR_LENGTH(whole) - consumed + IF(
                CHAR_LENGTH(TRIM(LEADING '0' FROM TRIM(LEADING '-' FROM TRIM(LEADING '+' FROM power)))) > 5,
                IF(LEFT(power, 1) = '-', -10000, 10000), power + 0));
    END IF;
    RETURN IF(negative, -size, size);
END;

-- Engine: postgresql

-- 10^e as SQLite multiplies it up; exact to 10^27.
CREATE FUNCTION bird_sqlite.power_of_ten(e int) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    rest int := e;
    factor numeric := 10;
    product numeric := 1;
BEGIN
    IF e <= 27 THEN
        RETURN power(10::numeric, e);
    END IF;
    LOOP
        IF rest % 2 = 1 THEN
            product := bird_sqlite.long_double(product * factor);
        END IF;
        rest := rest / 2;
        EXIT WHEN rest = 0;
        factor := bird_sqlite.long_double(factor * factor);
    END LOOP;
    RETURN product;
END $$;

-- digits * 10^e as SQLite reads it: rounded to 64 bits first, to 53 bits then. 0 <= digits < 2^63.
CREATE FUNCTION bird_sqlite.real_of(digits bigint, e int) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    s bigint := digits;
    size int := abs(e);
    long numeric;
    factor float8;
BEGIN
    WHILE size > 0 AND s <> 0 AND CASE WHEN e > 0 THEN s < 922337203685477580 ELSE s % 10 = 0 END LOOP
        s := CASE WHEN e > 0 THEN s * 10 ELSE s / 10 END;
        size := size - 1;
    END LOOP;
    IF s = 0 OR size = 0 THEN
        RETURN s;
    ELSIF size >= 342 THEN
        RETURN CASE WHEN e < 0 THEN 0 ELSE 'Infinity'::float8 END;
    ELSIF e < 0 AND size <= 4 AND s < 1000000000000000 THEN
        RETURN s / (10 ^ size)::float8;  -- So far from any half that rounding twice is rounding once.
    ELSIF size > 307 THEN
        long := bird_sqlite.power_of_ten(size - 308);
        factor := CASE WHEN e < 0 THEN bird_sqlite.long_double(s, long)
            ELSE bird_sqlite.long_double(s * long) END;
        IF e > 0 THEN
            RETURN CASE WHEN factor < 1.797693134862316 THEN factor * 1e308 ELSE 'Infinity' END;
        END IF;
        RETURN CASE WHEN factor < 2.470328229206233e-16 THEN 0 ELSE factor / 1e308 END;
    END IF;
    long := bird_sqlite.power_of_ten(size);
    IF e < 0 THEN
        RETURN bird_sqlite.long_double(s, long);
    END IF;
    long := bird_sqlite.long_double(s * long);
    RETURN CASE WHEN long < 1.7976931348623158079e308 THEN long::float8 ELSE 'Infinity' END;
END $$;

CREATE FUNCTION bird_sqlite.to_real(value text) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    number text;
    mantissa text;
    power text;
    whole text;
    fraction text;
    digits text;
    kept int;
    consumed int;
    shift int;
    size float8;
BEGIN
    -- No more than four places: so far from any half that rounding twice is rounding once.
    IF value ~ '^[+-]?[0-9]{1,15}(\.[0-9]{0,4})?$' THEN
        RETURN value::float8;
    END IF;
    number := lower(substring(value FROM '^[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)'));
    IF number IS NULL THEN
        RETURN 0;
    END IF;
    power := split_part(number, 'e', 2);
    mantissa := ltrim(split_part(number, 'e', 1), '+-');
    whole := ltrim(split_part(mantissa, '.', 1), '0');
    fraction := split_part(mantissa, '.', 2);
    digits := ltrim(whole || fraction, '0');
    IF digits = '' THEN
        RETURN 0;
    ELSIF power = '' AND length(digits) <= 18 AND length(fraction) <= 18 THEN
        -- 64 bits of it, then 53. No decimal of 18 digits lies on a half of the former.
        shift := 63 - floor(ln(mantissa::float8) / ln(2::float8));
        size := round(mantissa::numeric * (1::bigint << least(shift, 62)) * (1::bigint << greatest(shift - 62,
            0)));
        size := size / 2::float8 ^ shift;
    ELSE
        kept := least(length(digits), CASE WHEN left(digits, 18) >= '922337203685477579' THEN 18 ELSE 19 END);
        consumed := length(whole) + length(fraction) - length(digits) + kept;
        size := bird_sqlite.real_of(left(digits, kept)::bigint, length(whole) - consumed + CASE
            WHEN length(ltrim(power, '+-0')) <= 5 THEN coalesce(nullif(power, '')::int, 0)
            WHEN left(power, 1) = '-' THEN -10000
            ELSE 10000
        END);
    END IF;
    RETURN CASE WHEN left(number, 1) = '-' THEN -size ELSE size END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.to_real(VARCHAR) RETURNS DOUBLE LANGUAGE sqlite AS $$ CAST(?1 AS REAL) $$;
