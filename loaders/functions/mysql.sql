-- What SQLite 3.40 computes and MySQL has no word for; NULL where an argument is NULL. MySQL 8.4 and later.
--
-- Installed statement by statement as database bird_sqlite, under sql_mode NO_BACKSLASH_ESCAPES. A text without
-- a collation of its own would get the character set's default and not the database's, so each names it.
-- Definitions: see postgresql.sql.

-- BINARY FLOATING POINT
--
-- A "long" is a positive number of x86's 80-bit format: 100000 * mantissa + (exponent + 50000), with
-- 2^63 <= mantissa < 2^64. 0 is 0.

-- 2^e for 0 <= e <= 215.
CREATE FUNCTION bird_sqlite.power_of_two(e INT) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
RETURN CAST(1 << LEAST(e, 54) AS DECIMAL(65)) * CAST(1 << LEAST(GREATEST(e - 54, 0), 54) AS DECIMAL(65))
    * CAST(1 << LEAST(GREATEST(e - 108, 0), 54) AS DECIMAL(65)) * CAST(1 << LEAST(GREATEST(e - 162, 0),
        54) AS DECIMAL(65));

-- n * 2^e as a long: 64 bits, halves to even. n is an integer, 0 <= n < 2^215.
CREATE FUNCTION bird_sqlite.long_of(n DECIMAL(65), e INT) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
BEGIN
    DECLARE cut INT DEFAULT FLOOR(LOG2(n)) - 63;
    DECLARE unit, mantissa DECIMAL(65);
    DECLARE twice_rest DECIMAL(65) DEFAULT 0;
    IF n = 0 THEN
        RETURN 0;
    END IF;
    SET mantissa = 0;
    WHILE mantissa < 9223372036854775808 OR mantissa > 18446744073709551615 DO
        SET cut = cut + CASE WHEN mantissa = 0 THEN 0 WHEN mantissa < 9223372036854775808 THEN -1 ELSE 1 END;
        IF cut <= 0 THEN
            SET mantissa = n * bird_sqlite.power_of_two(-cut);
        ELSE
            SET unit = bird_sqlite.power_of_two(cut), mantissa = (n - MOD(n, unit)) / unit;
        END IF;
    END WHILE;
    IF cut > 0 THEN
        SET twice_rest = 2 * MOD(n, unit);
        IF twice_rest > unit OR twice_rest = unit AND MOD(mantissa, 2) = 1 THEN
            SET mantissa = mantissa + 1;
            IF mantissa > 18446744073709551615 THEN
                SET mantissa = 9223372036854775808, cut = cut + 1;
            END IF;
        END IF;
    END IF;
    RETURN mantissa * 100000 + e + cut + 50000;
END;

CREATE FUNCTION bird_sqlite.mantissa_of(p DECIMAL(65)) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
RETURN (p - MOD(p, 100000)) / 100000;

CREATE FUNCTION bird_sqlite.exponent_of(p DECIMAL(65)) RETURNS INT DETERMINISTIC NO SQL
RETURN MOD(p, 100000) - 50000;

CREATE FUNCTION bird_sqlite.long_product(p DECIMAL(65), q DECIMAL(65)) RETURNS DECIMAL(65)
    DETERMINISTIC NO SQL
RETURN IF(p = 0 OR q = 0, 0, bird_sqlite.long_of(
    bird_sqlite.mantissa_of(p) * bird_sqlite.mantissa_of(q), bird_sqlite.exponent_of(p)
        + bird_sqlite.exponent_of(q)));

CREATE FUNCTION bird_sqlite.long_quotient(p DECIMAL(65), q DECIMAL(65)) RETURNS DECIMAL(65)
    DETERMINISTIC NO SQL
BEGIN
    DECLARE n DECIMAL(65) DEFAULT bird_sqlite.mantissa_of(p) * bird_sqlite.power_of_two(66);
    DECLARE d DECIMAL(65) DEFAULT bird_sqlite.mantissa_of(q);
    DECLARE rest DECIMAL(65) DEFAULT MOD(n, d);
    -- The last bit says whether there is a rest, so that it is not taken for a half.
    RETURN bird_sqlite.long_of((n - rest) / d * 2 + (rest > 0),
        bird_sqlite.exponent_of(p) - bird_sqlite.exponent_of(q) - 67);
END;

CREATE FUNCTION bird_sqlite.long_sum(p DECIMAL(65), q DECIMAL(65)) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
BEGIN
    DECLARE gap INT DEFAULT bird_sqlite.exponent_of(p) - bird_sqlite.exponent_of(q);
    RETURN CASE
        WHEN p = 0 THEN q
        WHEN q = 0 THEN p
        WHEN gap > 140 THEN p
        WHEN gap < -140 THEN q
        WHEN gap >= 0 THEN bird_sqlite.long_of(bird_sqlite.mantissa_of(p) * bird_sqlite.power_of_two(gap)
            + bird_sqlite.mantissa_of(q), bird_sqlite.exponent_of(q))
        ELSE bird_sqlite.long_of(bird_sqlite.mantissa_of(q) * bird_sqlite.power_of_two(-gap)
            + bird_sqlite.mantissa_of(p), bird_sqlite.exponent_of(p))
    END;
END;

-- Whether p < q.
CREATE FUNCTION bird_sqlite.long_less(p DECIMAL(65), q DECIMAL(65)) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN CASE
    WHEN p = 0 OR q = 0 THEN p < q
    WHEN bird_sqlite.exponent_of(p) <> bird_sqlite.exponent_of(q)
        THEN bird_sqlite.exponent_of(p) < bird_sqlite.exponent_of(q)
    ELSE p < q
END;

-- A double, not negative, as a long.
CREATE FUNCTION bird_sqlite.long_of_double(x DOUBLE) RETURNS DECIMAL(65) DETERMINISTIC NO SQL
BEGIN
    DECLARE shift INT DEFAULT 53 - FLOOR(LOG2(x));
    IF x = 0 THEN
        RETURN 0;
    END IF;
    SET shift = LEAST(shift, 1074);
    RETURN bird_sqlite.long_of(CAST(x * POW(2, shift DIV 2) * POW(2, shift - shift DIV 2) AS UNSIGNED),
        -shift);
END;

-- A long as a double, the largest double where it is larger than that.
CREATE FUNCTION bird_sqlite.double_of_long(p DECIMAL(65)) RETURNS DOUBLE DETERMINISTIC NO SQL
BEGIN
    DECLARE e INT DEFAULT bird_sqlite.exponent_of(p);
    DECLARE m DECIMAL(65) DEFAULT bird_sqlite.mantissa_of(p);
    IF p = 0 THEN
        RETURN 0;
    ELSEIF e > 960 OR e = 960 AND m >= 18446744073709550592 THEN
        RETURN 1.7976931348623157e308;
    END IF;
    RETURN CAST(CAST(m AS UNSIGNED) AS DOUBLE) * POW(2, e DIV 2) * POW(2, e - e DIV 2);
END;

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

-- x as printf prints it. kind: f for '%.*f', e and g likewise, E for '%!.*e', G for '%!.*g'. places_or_digits >= 0.
CREATE FUNCTION bird_sqlite.printed(x DOUBLE, kind CHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    places_or_digits INT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE places INT DEFAULT IF(kind IN ('g', 'G'), GREATEST(places_or_digits - 1, 0), places_or_digits);
    DECLARE idx INT DEFAULT places & 4095;
    DECLARE rounder DOUBLE DEFAULT ELT(idx % 10 + 1, 5e-1, 5e-2, 5e-3, 5e-4, 5e-5, 5e-6, 5e-7, 5e-8, 5e-9,
        5e-10);
    DECLARE value DECIMAL(65) DEFAULT bird_sqlite.long_of_double(ABS(x));
    DECLARE one DECIMAL(65) DEFAULT bird_sqlite.long_of(1, 0);
    DECLARE ten DECIMAL(65) DEFAULT bird_sqlite.long_of(10, 0);
    DECLARE step DECIMAL(65);
    DECLARE next_scale DECIMAL(65);
    DECLARE scale DECIMAL(65) DEFAULT one;
    DECLARE exponent INT DEFAULT 0;
    DECLARE binary_exponent INT DEFAULT GREATEST(bird_sqlite.exponent_of(value) + 63, -1023);
    DECLARE wanted INT;
    DECLARE unit, mantissa DECIMAL(65);
    DECLARE digit INT;
    DECLARE scientific BOOLEAN DEFAULT FALSE;
    DECLARE whole, digits LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    IF x IS NULL OR places IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE idx >= 10 DO
        SET rounder = IF(rounder > 1e-300, rounder * 1e-10, 0), idx = idx - 10;
    END WHILE;
    IF kind = 'f' THEN
        IF value > 0 AND places + binary_exponent DIV 3 < 15 THEN
            SET rounder = bird_sqlite.double_of_long(bird_sqlite.long_sum(bird_sqlite.long_of_double(rounder),
                bird_sqlite.long_product(value, bird_sqlite.long_of_double(3e-16))));
        END IF;
        SET value = bird_sqlite.long_sum(value, bird_sqlite.long_of_double(rounder));
    END IF;
    IF value > 0 THEN
        SET step = bird_sqlite.long_of_double(1e100), digit = 100;
        WHILE digit > 0 DO
            SET next_scale = bird_sqlite.long_product(step, scale);
            IF bird_sqlite.long_less(value, next_scale) THEN
                SET step = IF(digit = 100, bird_sqlite.long_of(10000000000, 0), ten), digit = digit DIV 10;
            ELSE
                SET scale = next_scale, exponent = exponent + digit;
            END IF;
        END WHILE;
        SET value = bird_sqlite.long_quotient(value, scale);
        WHILE bird_sqlite.long_less(value, bird_sqlite.long_of_double(1e-8)) DO
            SET value = bird_sqlite.long_product(value, bird_sqlite.long_of(100000000, 0)),
                exponent = exponent - 8;
        END WHILE;
        WHILE bird_sqlite.long_less(value, one) DO
            SET value = bird_sqlite.long_product(value, ten), exponent = exponent - 1;
        END WHILE;
    END IF;
    IF kind <> 'f' THEN
        SET value = bird_sqlite.long_sum(value, bird_sqlite.long_of_double(rounder));
        IF NOT bird_sqlite.long_less(value, ten) THEN
            SET value = bird_sqlite.long_product(value, bird_sqlite.long_of_double(0.1e0)),
                exponent = exponent + 1;
        END IF;
        SET scientific = kind IN ('e', 'E') OR exponent < -4 OR exponent > places;
        IF NOT scientific THEN
            SET places = places - exponent;
        END IF;
    END IF;
    SET wanted = LEAST(IF(kind IN ('E', 'G'), 26, 16), places + 1 + IF(scientific, 0, exponent));
    WHILE CHAR_LENGTH(digits) < wanted DO
        SET digit = 0;
        IF NOT bird_sqlite.long_less(value, one) THEN
            SET unit = bird_sqlite.power_of_two(-bird_sqlite.exponent_of(value)),
                mantissa = bird_sqlite.mantissa_of(value),
                digit = (mantissa - MOD(mantissa, unit)) / unit,
                value = bird_sqlite.long_of(MOD(mantissa, unit), bird_sqlite.exponent_of(value));
        END IF;
        SET digits = CONCAT(digits, digit), value = bird_sqlite.long_product(value, ten);
    END WHILE;
    IF scientific THEN
        SET whole = LEFT(digits, 1), digits = RPAD(SUBSTRING(digits, 2), places, '0');
    ELSEIF exponent >= 0 THEN
        SET whole = RPAD(LEFT(digits, exponent + 1), exponent + 1, '0'), digits = RPAD(SUBSTRING(digits,
            exponent + 2), places, '0');
    ELSE
        SET whole = '0', digits = RPAD(CONCAT(REPEAT('0', LEAST(-exponent - 1, places)), digits), places,
            '0');
    END IF;
    IF kind NOT IN ('e', 'f') THEN
        SET digits = TRIM(TRAILING '0' FROM digits);
        IF kind IN ('E', 'G') AND digits = '' THEN
            SET digits = '0';
        END IF;
    END IF;
    RETURN CONCAT(IF(x < 0, '-', ''), whole, IF(digits = '', '', '.'), digits,
        IF(scientific, CONCAT('e', IF(exponent < 0, '-', '+'), LPAD(ABS(exponent), GREATEST(2,
            CHAR_LENGTH(ABS(exponent))), '0')), ''));
END;

-- CONVERSIONS

--
-- No REGEXP within these functions: a pattern is compiled anew at every call, which takes 50 microseconds.
-- And no conversion that warns, as CAST('12 kg' AS SIGNED) does: a warning takes 100.

-- A text with 0 in place of every digit.
CREATE FUNCTION bird_sqlite.masked(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(value, '1', '0'), '2', '0'),
    '3', '0'), '4', '0'), '5', '0'), '6', '0'), '7', '0'), '8', '0'), '9', '0');

-- A text without the white space before it.
CREATE FUNCTION bird_sqlite.without_space(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(ASCII(value) IN (9, 10, 11, 12, 13, 32),
    bird_sqlite.ltrim_set(value, CHAR(9, 10, 11, 12, 13, 32 USING utf8mb4)), value);

-- The number that a text without white space before it begins with; '' if there is none.
CREATE FUNCTION bird_sqlite.number_at(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE mask, rest LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE size, step, sign INT;
    SET mask = bird_sqlite.masked(value), size = LEFT(mask, 1) IN ('-', '+'), rest = SUBSTRING(mask, size
        + 1),
        step = CHAR_LENGTH(rest) - CHAR_LENGTH(TRIM(LEADING '0' FROM rest)),
        size = size + step, rest = SUBSTRING(rest, step + 1);
    IF LEFT(rest, 1) = '.' AND (step > 0 OR SUBSTRING(rest, 2, 1) = '0') THEN
        SET rest = SUBSTRING(rest, 2), step = CHAR_LENGTH(rest) - CHAR_LENGTH(TRIM(LEADING '0' FROM rest)),
            size = size + 1 + step, rest = SUBSTRING(rest, step + 1);
    ELSEIF step = 0 THEN
        RETURN '';
    END IF;
    IF LEFT(rest, 1) IN ('e', 'E') THEN
        SET sign = SUBSTRING(rest, 2, 1) IN ('-', '+'), rest = SUBSTRING(rest, 2 + sign),
            step = CHAR_LENGTH(rest) - CHAR_LENGTH(TRIM(LEADING '0' FROM rest)), size = size + IF(step > 0, 1
                + sign + step, 0);
    END IF;
    RETURN LEFT(value, size);
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

-- CAST(real AS INTEGER).
CREATE FUNCTION bird_sqlite.real_to_integer(x DOUBLE) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    WHEN x >= 9223372036854775807e0 THEN 9223372036854775807
    WHEN x <= -9223372036854775808e0 THEN -9223372036854775808
    ELSE CAST(TRUNCATE(x, 0) AS SIGNED)
END;

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

-- NUMBERS

-- |x| to `places` places, if that is sure to be what SQLite prints; else NULL. 0 <= places.
--
-- SQLite 3.40 adds half a unit and, while there are digits enough, 3e-16 * x and cuts: half up of the shortest
-- decimal, but for what comes to within 1e-15 of a half.
CREATE FUNCTION bird_sqlite.surely_rounded(x DOUBLE, places INT) RETURNS DECIMAL(65, 30) DETERMINISTIC NO SQL
BEGIN
    DECLARE shortest, rounded DECIMAL(65, 30);
    IF x IS NULL OR ABS(x) >= 1e15 OR places > 15 THEN
        RETURN NULL;
    ELSEIF ABS(x) < 4 * POW(10, -places - 1) THEN
        RETURN 0;
    END IF;
    SET shortest = ABS(x), rounded = ROUND(shortest * 1.000000000000001, places);
    RETURN IF(rounded = ROUND(IF(ABS(x) >= 1 AND places + LOG2(ABS(x)) / 3 < 14, shortest,
        shortest * 0.999999999999999), places),
        rounded, NULL);
END;

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

-- printf('%.*f', places, x).
CREATE FUNCTION bird_sqlite.fixed(x DOUBLE, places BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE n INT DEFAULT ABS(bird_sqlite.int32(places));
    DECLARE rounded DECIMAL(65, 30) DEFAULT bird_sqlite.surely_rounded(x, n);
    IF x IS NULL OR n IS NULL THEN
        RETURN NULL;
    ELSEIF rounded IS NOT NULL THEN
        RETURN CONCAT(IF(x < 0, '-', ''), SUBSTRING_INDEX(rounded, '.', 1), IF(n = 0, '', '.'),
            LEFT(SUBSTRING_INDEX(rounded, '.', -1), n));
    END IF;
    RETURN bird_sqlite.printed(x, 'f', n);
END;

-- An integer argument as SQLite's functions take it: its low 32 bits.
CREATE FUNCTION bird_sqlite.int32(n BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CAST((n & 4294967295) ^ 2147483648 AS SIGNED) - 2147483648;

-- TEXT

-- lower(x), which folds ASCII alone. TIS-620 has one byte per character and no letters with case beyond ASCII.
CREATE FUNCTION bird_sqlite.lower_ascii(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CONVERT(CAST(LOWER(CONVERT(CAST(value AS BINARY) USING tis620)) AS BINARY) USING utf8mb4);

-- upper(x), which folds ASCII alone.
CREATE FUNCTION bird_sqlite.upper_ascii(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CONVERT(CAST(UPPER(CONVERT(CAST(value AS BINARY) USING tis620)) AS BINARY) USING utf8mb4);

-- substr(x, start).
CREATE FUNCTION bird_sqlite.substr_from(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    start BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CASE
    WHEN start BETWEEN 1 AND 2147483647 THEN SUBSTRING(value, start)
    WHEN start = 0 THEN value
    ELSE bird_sqlite.substr_of(value, start, 1000000000)
END;

-- substr(x, start, size).
CREATE FUNCTION bird_sqlite.substr_of(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    start BIGINT, size BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE y BIGINT DEFAULT bird_sqlite.int32(start);
    DECLARE z BIGINT DEFAULT ABS(bird_sqlite.int32(size));
    IF value IS NULL OR y IS NULL OR z IS NULL THEN
        RETURN NULL;
    END IF;
    -- y counts from 0 now.
    IF y < 0 THEN
        SET y = y + CHAR_LENGTH(value);
        IF y < 0 THEN
            SET z = GREATEST(z + y, 0), y = 0;
        END IF;
    ELSEIF y > 0 THEN
        SET y = y - 1;
    ELSEIF z > 0 THEN
        SET z = z - 1;
    END IF;
    IF bird_sqlite.int32(size) < 0 THEN
        SET y = y - z;
        IF y < 0 THEN
            SET z = z + y, y = 0;
        END IF;
    END IF;
    RETURN SUBSTRING(value, y + 1, z);
END;

-- value GLOB pattern.
CREATE FUNCTION bird_sqlite.glob_match(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    pattern LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN IF(LOCATE('[', pattern) = 0,
    value LIKE REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(pattern, '|', '||'), '%', '|%'), '_', '|_'), '*', '%'),
        '?', '_') ESCAPE '|',
    REGEXP_LIKE(value, bird_sqlite.glob_regex(pattern), 'cn'));

-- The regular expression that means what a GLOB pattern does, under the flags c and n.
CREATE FUNCTION bird_sqlite.glob_regex(pattern LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE regex, segment, members LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    DECLARE c, prior, upper_end VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE i INT DEFAULT 1;
    DECLARE stars BOOLEAN DEFAULT FALSE;
    DECLARE inverted BOOLEAN;
    IF pattern IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE i <= CHAR_LENGTH(pattern) DO
        SET c = SUBSTRING(pattern, i, 1), i = i + 1;
        IF c = '*' THEN
            -- What lies between two stars need not be tried again: its earliest match is as good as any.
            SET regex = IF(stars, CONCAT(regex, '(?>.*?', segment, ')'), segment), segment = '', stars = TRUE;
        ELSEIF c = '?' THEN
            SET segment = CONCAT(segment, '.');
        ELSEIF c <> '[' THEN
            SET segment = CONCAT(segment, bird_sqlite.regex_character(c));
        ELSE
            SET inverted = SUBSTRING(pattern, i, 1) = '^', i = i + inverted, members = '', prior = NULL;
            IF SUBSTRING(pattern, i, 1) = ']' THEN
                SET members = '\]', i = i + 1;
            END IF;
            SET c = SUBSTRING(pattern, i, 1);
            WHILE c <> ']' DO
                IF c = '' THEN
                    RETURN '(?!)';
                END IF;
                SET i = i + 1, upper_end = SUBSTRING(pattern, i, 1);
                IF c = '-' AND prior IS NOT NULL AND upper_end NOT IN (']', '') THEN
                    IF upper_end >= prior THEN
                        SET members = CONCAT(members, bird_sqlite.regex_character(prior), '-',
                            bird_sqlite.regex_character(upper_end));
                    END IF;
                    SET prior = NULL, i = i + 1;
                ELSE
                    SET members = CONCAT(members, bird_sqlite.regex_character(c)), prior = c;
                END IF;
                SET c = SUBSTRING(pattern, i, 1);
            END WHILE;
            SET i = i + 1, segment = CONCAT(segment, '[', IF(inverted, '^', ''), members, ']');
        END IF;
    END WHILE;
    RETURN CONCAT('^', regex, IF(stars, '.*', ''), segment, '\z');
END;

-- A character that stands for itself in a regular expression, within brackets or not.
CREATE FUNCTION bird_sqlite.regex_character(c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS VARCHAR(2) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(c BETWEEN '0' AND '9' OR c BETWEEN 'A' AND 'Z' OR c BETWEEN 'a' AND 'z' OR c > CHAR(127), c,
    CONCAT('\', c));

-- trim(x, characters).
CREATE FUNCTION bird_sqlite.trim_set(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    characters LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(CHAR_LENGTH(characters) = 1, TRIM(characters FROM value),
    bird_sqlite.rtrim_set(bird_sqlite.ltrim_set(value, characters), characters));

-- ltrim(x, characters).
CREATE FUNCTION bird_sqlite.ltrim_set(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    characters LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE i, size INT DEFAULT CHAR_LENGTH(value);
    SET i = 1;
    IF characters IS NULL THEN
        RETURN NULL;
    ELSEIF CHAR_LENGTH(characters) = 1 THEN
        RETURN TRIM(LEADING characters FROM value);
    END IF;
    WHILE i <= size AND LOCATE(SUBSTRING(value, i, 1), characters) DO
        SET i = i + 1;
    END WHILE;
    RETURN SUBSTRING(value, i);
END;

-- rtrim(x, characters).
CREATE FUNCTION bird_sqlite.rtrim_set(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    characters LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE i INT DEFAULT CHAR_LENGTH(value);
    IF characters IS NULL THEN
        RETURN NULL;
    ELSEIF CHAR_LENGTH(characters) = 1 THEN
        RETURN TRIM(TRAILING characters FROM value);
    END IF;
    WHILE i > 0 AND LOCATE(SUBSTRING(value, i, 1), characters) DO
        SET i = i - 1;
    END WHILE;
    RETURN LEFT(value, i);
END;

-- unicode(x).
CREATE FUNCTION bird_sqlite.unicode_of(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS BIGINT DETERMINISTIC NO SQL
RETURN NULLIF(ORD(CONVERT(LEFT(value, 1) USING utf32)), 0);

-- DATES
--
-- A moment is a bigint: milliseconds since the noon of November 24, 4714 B.C., as in SQLite's DateTime.iJD.
--
-- SQLite prints what it parsed as long as no modifier has changed it: February 31, hour 24, and seconds that
-- a rounding to milliseconds would carry over. The bits from 57 on keep how that differs from what the
-- milliseconds say, so that arithmetic on a moment needs milliseconds_of first:
--   3   days beyond the last of the month
--   4   the hour is 24
--   8   the time came without a date, and the milliseconds are of another day than 2000-01-01
--   16  the milliseconds were rounded up to a whole second
--   32  a time zone was given

CREATE FUNCTION bird_sqlite.milliseconds_of(moment BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(moment < 144115188075855872, moment, moment & 144115188075855871);

CREATE FUNCTION bird_sqlite.flags_of(moment BIGINT) RETURNS INT DETERMINISTIC NO SQL
RETURN IF(moment < 144115188075855872, 0, moment >> 57);

-- The milliseconds at 00:00 of a day; days beyond the month's last count on.
CREATE FUNCTION bird_sqlite.midnight(y INT, m INT, d INT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN (36525 * (y - (m <= 2) + 4716) DIV 100 + 306001 * (m + IF(m <= 2, 13, 1)) DIV 10000 + d + 2
    - (y - (m <= 2)) DIV 100 + (y - (m <= 2)) DIV 100 DIV 4 - 1524) * 86400000 - 43200000;

-- The moment that a time value names; 'now' is the clock of the statement.
CREATE FUNCTION bird_sqlite.moment(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    -- A day of the calendar, at a time of that day.
    WHEN value LIKE '____-__-__' AND value BETWEEN '1000' AND '9999~'
        AND CAST(FROM_DAYS(TO_DAYS(value)) AS CHAR) = value
        THEN TO_DAYS(value) * 86400000 + 148699540800000
    WHEN value LIKE '____-__-__ __:__:__%' AND value BETWEEN '1000' AND '9999~' AND SUBSTRING(value, 20)
        IN ('', '.0', '.000')
        AND CAST(CAST(LEFT(value, 19) AS DATETIME) AS CHAR) = LEFT(value, 19)
        THEN TO_DAYS(LEFT(value, 10)) * 86400000 + 148699540800000 + TIME_TO_SEC(SUBSTRING(value, 12,
            8)) * 1000
    WHEN LOWER(value) = 'now' THEN 210866760000000 + FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)
    ELSE bird_sqlite.parsed(value)
END;

-- The moment that a text other than 'now' names.
CREATE FUNCTION bird_sqlite.parsed(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE mask, rest, fraction LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE y INT DEFAULT 2000;
    DECLARE m, d INT DEFAULT 1;
    DECLARE dated, timed, zoned BOOLEAN DEFAULT FALSE;
    DECLARE zone, minutes INT DEFAULT 0;
    DECLARE seconds DOUBLE DEFAULT 0;
    DECLARE instant, milliseconds, flags BIGINT DEFAULT 0;
    IF value IS NULL OR NOT LOCATE('0', bird_sqlite.masked(value)) THEN
        RETURN NULL;
    END IF;
    SET rest = IF(LEFT(value, 1) = '-', SUBSTRING(value, 2), value), mask = bird_sqlite.masked(LEFT(rest,
        10)),
        dated = mask = '0000-00-00';
    IF dated THEN
        SET y = LEFT(rest, 4), m = SUBSTRING(rest, 6, 2), d = SUBSTRING(rest, 9, 2), y = IF(LEFT(value,
            1) = '-', -y, y),
            rest = bird_sqlite.ltrim_set(SUBSTRING(rest, 11), CHAR(9, 10, 11, 12, 13, 32, 84 USING utf8mb4));
    ELSE
        SET rest = value;
    END IF;
    SET mask = bird_sqlite.masked(rest), timed = LEFT(mask, 5) = '00:00';
    IF timed THEN
        SET minutes = LEFT(rest, 2) * 60 + SUBSTRING(rest, 4, 2);
        IF LEFT(rest, 2) > '24' OR SUBSTRING(rest, 4, 2) > '59' THEN
            RETURN NULL;
        END IF;
        SET rest = SUBSTRING(rest, 6), mask = SUBSTRING(mask, 6);
        IF LEFT(rest, 1) = ':' THEN
            IF LEFT(mask, 3) <> ':00' OR SUBSTRING(rest, 2, 2) > '59' THEN
                RETURN NULL;
            END IF;
            SET seconds = SUBSTRING(rest, 2, 2), rest = SUBSTRING(rest, 4), mask = SUBSTRING(mask, 4);
            IF LEFT(mask, 2) = '.0' THEN
                SET mask = TRIM(LEADING '0' FROM SUBSTRING(mask, 2)), fraction = LEFT(rest,
                    CHAR_LENGTH(rest) - CHAR_LENGTH(mask)),
                    rest = RIGHT(rest, CHAR_LENGTH(mask)), seconds = seconds + CONCAT('0', fraction);
            END IF;
        END IF;
        SET milliseconds = FLOOR(seconds * 1000 + 0.5e0),
            rest = REVERSE(bird_sqlite.without_space(REVERSE(bird_sqlite.without_space(rest)))),
                zoned = rest <> '';
        IF bird_sqlite.masked(rest) IN ('+00:00', '-00:00') AND SUBSTRING(rest, 2, 2) <= '14' AND RIGHT(rest,
            2) <= '59' THEN
            SET zone = (SUBSTRING(rest, 2, 2) * 60 + RIGHT(rest, 2)) * IF(LEFT(rest, 1) = '-', -1, 1);
        ELSEIF rest NOT IN ('', 'z', 'Z') THEN
            RETURN NULL;
        END IF;
    ELSEIF NOT dated OR rest <> '' THEN
        RETURN bird_sqlite.moment_of_julian(bird_sqlite.as_number(value));
    END IF;
    IF y < -4713 OR m NOT BETWEEN 1 AND 12 OR d NOT BETWEEN 1 AND 31 THEN
        RETURN NULL;
    END IF;
    SET instant = bird_sqlite.midnight(y, m, d) + (minutes - zone) * 60000 + milliseconds;
    IF instant NOT BETWEEN 0 AND 464269060799999 THEN
        RETURN instant;
    END IF;
    IF zone = 0 THEN
        SET flags = GREATEST(0, d - (bird_sqlite.midnight(y, m + 1, 1) - bird_sqlite.midnight(y, m,
            1)) DIV 86400000)
            + IF(minutes >= 1440, 4, 0) + IF(milliseconds >= FLOOR(seconds) * 1000 + 1000, 16, 0);
    END IF;
    IF NOT dated AND instant NOT BETWEEN 211813444800000 AND 211813531199999 THEN
        SET flags = flags + 8;
    END IF;
    RETURN instant + (flags + IF(flags > 0 AND zoned, 32, 0)) * 144115188075855872;
END;

-- The moment of a julian day number.
CREATE FUNCTION bird_sqlite.moment_of_julian(day DOUBLE) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(day >= 0 AND day < 5373484.5, CAST(TRUNCATE(day * 86400000 + 0.5e0, 0) AS SIGNED), NULL);

-- The moment of a number with the modifier 'unixepoch'.
CREATE FUNCTION bird_sqlite.moment_of_unix(seconds DOUBLE) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(ABS(seconds) < 1e15 AND seconds * 1000 + 210866760000000e0 >= 0 AND seconds * 1000
    + 210866760000000e0 < 464269060800000e0,
    CAST(TRUNCATE(seconds * 1000 + 210866760000000e0 + 0.5e0, 0) AS SIGNED), NULL);

-- julianday(moment).
CREATE FUNCTION bird_sqlite.julian_of(moment BIGINT) RETURNS DOUBLE DETERMINISTIC NO SQL
RETURN CASE
    WHEN moment BETWEEN 0 AND 464269060799999 THEN moment / 86400000e0
    WHEN moment >= 144115188075855872 THEN bird_sqlite.milliseconds_of(moment) / 86400000e0
END;

-- unixepoch(moment).
CREATE FUNCTION bird_sqlite.unix_of(moment BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    WHEN moment BETWEEN 0 AND 464269060799999 THEN moment DIV 1000 - 210866760000
    WHEN moment >= 144115188075855872 THEN bird_sqlite.milliseconds_of(moment) DIV 1000 - 210866760000
END;

-- date(moment).
CREATE FUNCTION bird_sqlite.day_text(moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
-- From the year 400 on there is one calendar.
RETURN IF(moment BETWEEN 161327505600000 AND 464269060799999,
    CAST(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060) AS CHAR),
        bird_sqlite.long_way_to_day_text(moment));

CREATE FUNCTION bird_sqlite.long_way_to_day_text(moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE flags INT DEFAULT bird_sqlite.flags_of(moment);
    DECLARE instant BIGINT DEFAULT bird_sqlite.milliseconds_of(moment) - IF(flags & 8, 0, IF(flags & 16, 1000,
        0) + IF(flags & 4, 86400000, 0));
    DECLARE day, a, b, c, e, y, m INT;
    IF instant IS NULL OR instant NOT BETWEEN 0 AND 464269060799999 THEN
        RETURN NULL;
    END IF;
    SET day = (instant + 43200000) DIV 86400000 - (flags & 3), a = TRUNCATE((day - 1867216.25e0) / 36524.25e0,
        0), a = day + 1 + a - a DIV 4,
        b = a + 1524, c = TRUNCATE((b - 122.1e0) / 365.25e0, 0), day = 36525 * c DIV 100,
            e = TRUNCATE((b - day) / 30.6001e0, 0),
        m = IF(e < 14, e - 1, e - 13), y = IF(m > 2, c - 4716, c - 4715),
        day = b - day - CAST(TRUNCATE(30.6001e0 * e, 0) AS SIGNED) + (flags & 3);
    RETURN CONCAT(IF(y < 0, '-', ''), LPAD(ABS(y), 4, '0'), '-', LPAD(m, 2, '0'), '-', LPAD(day, 2, '0'));
END;

-- Milliseconds of the day as printed: hour 24 counts, what was rounded up does not.
CREATE FUNCTION bird_sqlite.clock_of(moment BIGINT) RETURNS INT DETERMINISTIC NO SQL
RETURN CASE
    WHEN moment BETWEEN 0 AND 464269060799999 THEN (moment + 43200000) % 86400000
    WHEN moment >= 144115188075855872
        THEN (bird_sqlite.milliseconds_of(moment) - IF(bird_sqlite.flags_of(moment) & 16, 1000, 0) + 43200000)
        % 86400000 + IF(bird_sqlite.flags_of(moment) & 4, 86400000, 0)
END;

-- time(moment).
CREATE FUNCTION bird_sqlite.time_text(moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CAST(SEC_TO_TIME(IF(moment BETWEEN 0 AND 464269060799999, (moment + 43200000) % 86400000,
    bird_sqlite.clock_of(moment)) DIV 1000) AS CHAR);

-- datetime(moment).
CREATE FUNCTION bird_sqlite.datetime_text(moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CONCAT(bird_sqlite.day_text(moment), ' ', bird_sqlite.time_text(moment));

-- strftime(format, moment).
CREATE FUNCTION bird_sqlite.format_moment(format LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN CASE
    WHEN format IN ('%Y', '%Y-%m', '%Y-%m-%d') AND moment BETWEEN 161327505600000 AND 464269060799999
        THEN LEFT(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060), CASE format WHEN '%Y' THEN 4
            WHEN '%Y-%m' THEN 7 ELSE 10 END)
    WHEN format IN ('%m', '%d') AND moment BETWEEN 161327505600000 AND 464269060799999
        THEN SUBSTRING(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060), IF(format = '%m', 6, 9), 2)
    WHEN format IN ('%H', '%M', '%S') AND moment BETWEEN 161327505600000 AND 464269060799999
        THEN LPAD(CASE format WHEN '%H' THEN (moment + 43200000) DIV 3600000 % 24 WHEN '%M' THEN (moment
            + 43200000) DIV 60000 % 60
            ELSE (moment + 43200000) DIV 1000 % 60 END, 2, '0')
    ELSE bird_sqlite.long_way_to_format(format, moment)
END;

CREATE FUNCTION bird_sqlite.long_way_to_format(format LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    moment BIGINT)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE today VARCHAR(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT bird_sqlite.day_text(moment);
    DECLARE rest, printed LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    DECLARE at INT;
    IF today IS NULL OR format IS NULL THEN
        RETURN NULL;
    END IF;
    SET rest = format, at = LOCATE('%', rest);
    WHILE at > 0 DO
        SET printed = CONCAT(printed, LEFT(rest, at - 1), bird_sqlite.substitution(SUBSTRING(rest, at + 1, 1),
            moment, today)),
            rest = SUBSTRING(rest, at + 2), at = LOCATE('%', rest);
    END WHILE;
    RETURN CONCAT(printed, rest);
END;

-- What strftime puts in place of % and `letter`; `today` is day_text(moment).
CREATE FUNCTION bird_sqlite.substitution(letter VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    moment BIGINT,
    today VARCHAR(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE instant BIGINT DEFAULT bird_sqlite.milliseconds_of(moment);
    DECLARE clock INT DEFAULT bird_sqlite.clock_of(moment);
    DECLARE days INT;
    DECLARE is_rounded BOOLEAN DEFAULT bird_sqlite.flags_of(moment) & 16 > 0;
    CASE letter
        WHEN '%' THEN RETURN '%';
        WHEN 'd' THEN RETURN RIGHT(today, 2);
        WHEN 'm' THEN RETURN LEFT(RIGHT(today, 5), 2);
        WHEN 'Y' THEN
            RETURN IF(LEFT(today, 2) = '-0', CONCAT('-', SUBSTRING(today, 3, 3)), LEFT(today,
                CHAR_LENGTH(today) - 6));
        WHEN 'H' THEN RETURN LPAD(clock DIV 3600000, 2, '0');
        WHEN 'M' THEN RETURN LPAD(clock DIV 60000 % 60, 2, '0');
        WHEN 'S' THEN RETURN LPAD(clock DIV 1000 % 60, 2, '0');
        WHEN 'f' THEN
            SET clock = clock % 60000, clock = IF(is_rounded, LEAST(clock - clock % 1000 + 1000, 59999),
                clock);
            RETURN CONCAT(LPAD(clock DIV 1000, 2, '0'), '.', LPAD(clock % 1000, 3, '0'));
        WHEN 'j' THEN RETURN LPAD(bird_sqlite.day_of_year(moment, today) + 1, 3, '0');
        WHEN 'W' THEN
            RETURN LPAD((bird_sqlite.day_of_year(moment, today) + 7 - (instant
                + 43200000) DIV 86400000 % 7) DIV 7, 2, '0');
        WHEN 'J' THEN RETURN bird_sqlite.printed(instant / 86400000e0, 'g', 16);
        WHEN 's' THEN RETURN instant DIV 1000 - 210866760000;
        WHEN 'w' THEN RETURN (instant + 129600000) DIV 86400000 % 7;
        ELSE RETURN NULL;
    END CASE;
END;

-- Days since January 1.
CREATE FUNCTION bird_sqlite.day_of_year(moment BIGINT,
    today VARCHAR(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS INT DETERMINISTIC NO SQL
RETURN (bird_sqlite.milliseconds_of(moment) - bird_sqlite.clock_of(moment)
    + 43200000 - IF(bird_sqlite.flags_of(moment) & 16, 1000, 0)
    - bird_sqlite.midnight(LEFT(today, CHAR_LENGTH(today) - 6), 1, 1)) DIV 86400000;

-- A moment some months on, in the year that is then; days beyond the month's last count on.
CREATE FUNCTION bird_sqlite.months_added(moment BIGINT, months BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN IF(
    moment BETWEEN 161327505600000 AND 464269060799999 AND CAST(YEAR(FROM_DAYS((moment
        + 43200000) DIV 86400000 - 1721060)) AS SIGNED) + months DIV 12 BETWEEN 400 AND 9998,
    TO_DAYS(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060) - INTERVAL (DAYOFMONTH(FROM_DAYS((moment
        + 43200000) DIV 86400000 - 1721060)) - 1) DAY + INTERVAL months MONTH) * 86400000 + 148699540800000
        + (DAYOFMONTH(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060)) - 1) * 86400000 + (moment
            + 43200000) % 86400000,
    bird_sqlite.long_way_to_months_added(moment, months));

CREATE FUNCTION bird_sqlite.long_way_to_months_added(moment BIGINT, months BIGINT) RETURNS BIGINT
    DETERMINISTIC NO SQL
BEGIN
    DECLARE today VARCHAR(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT bird_sqlite.day_text(moment);
    DECLARE y INT DEFAULT LEFT(today, CHAR_LENGTH(today) - 6);
    DECLARE m INT DEFAULT LEFT(RIGHT(today, 5), 2) + IF(ABS(months) < 176546, months, NULL);
    DECLARE years INT DEFAULT IF(m > 0, (m - 1) DIV 12, (m - 12) DIV 12);
    RETURN IF(y + years BETWEEN -4713 AND 9999,
        bird_sqlite.midnight(y + years, m - years * 12, RIGHT(today, 2)) + bird_sqlite.clock_of(moment)
            + IF(bird_sqlite.flags_of(moment) & 16, 1000, 0),
        NULL);
END;

-- A moment with one modifier applied; NULL for one that SQLite does not know or that is for numbers only
-- ('unixepoch', 'julianday', 'auto'). Local time is UTC.
CREATE FUNCTION bird_sqlite.modified(moment BIGINT,
    modifier LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE
    WHEN modifier IN ('start of day', 'start of month', 'start of year') AND moment BETWEEN 161327505600000
        AND 464269060799999
        THEN ((moment + 43200000) DIV 86400000 - CASE modifier
            WHEN 'start of day' THEN 0
            WHEN 'start of month' THEN DAYOFMONTH(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060)) - 1
            ELSE DAYOFYEAR(FROM_DAYS((moment + 43200000) DIV 86400000 - 1721060)) - 1
        END) * 86400000 - 43200000
    ELSE bird_sqlite.long_way_to_modified(moment, modifier)
END;

CREATE FUNCTION bird_sqlite.long_way_to_modified(moment BIGINT,
    modifier LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE name, number,
        unit LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT LOWER(CONVERT(modifier USING ascii));
    DECLARE instant BIGINT DEFAULT bird_sqlite.milliseconds_of(moment);
    DECLARE flags INT DEFAULT bird_sqlite.flags_of(moment);
    DECLARE amount, rounder DOUBLE;
    DECLARE today VARCHAR(11) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE y, weekday INT;
    IF moment IS NULL OR modifier IS NULL THEN
        RETURN NULL;
    END IF;
    SET number = SUBSTRING_INDEX(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(name, CHAR(9), ' '), CHAR(10), ' '),
        CHAR(11), ' '), CHAR(12), ' '), CHAR(13), ' '), ' ', 1),
        unit = bird_sqlite.without_space(SUBSTRING(name, CHAR_LENGTH(number) + 1)), unit = IF(RIGHT(unit,
            1) = 's', LEFT(unit, CHAR_LENGTH(unit) - 1), unit);
    IF unit IN ('second', 'minute', 'hour', 'day', 'month', 'year') AND LEFT(number, 1) <> '.' THEN
        SET amount = bird_sqlite.as_number(number), rounder = IF(amount < 0, -0.5e0, 0.5e0);
        IF amount IS NULL OR ABS(amount) >= CASE unit WHEN 'second' THEN 464269992787968 WHEN 'minute'
            THEN 7737900007424
            WHEN 'hour' THEN 128969998336 WHEN 'day' THEN 5373485 WHEN 'month' THEN 176546 ELSE 14713 END THEN
            RETURN NULL;
        END IF;
        IF unit IN ('month', 'year') THEN
            SET instant = bird_sqlite.months_added(moment, CAST(TRUNCATE(amount,
                0) AS SIGNED) * IF(unit = 'month', 1, 12)),
                amount = amount - TRUNCATE(amount, 0);
        END IF;
        RETURN instant + CAST(TRUNCATE(amount * 1000 * CASE unit WHEN 'second' THEN 1 WHEN 'minute' THEN 60
            WHEN 'hour' THEN 3600
            WHEN 'day' THEN 86400 WHEN 'month' THEN 2592000 ELSE 31536000 END + rounder, 0) AS SIGNED);
    ELSEIF bird_sqlite.masked(LEFT(name, 3)) = '00:' OR bird_sqlite.masked(LEFT(name, 4)) IN ('+00:',
        '-00:') THEN
        SET amount = (bird_sqlite.milliseconds_of(bird_sqlite.parsed(TRIM(LEADING LEFT(name, LEFT(name, 1)
            IN ('+', '-')) FROM name))) - 43200000) % 86400000;
        RETURN instant + IF(LEFT(name, 1) = '-', -amount, amount);
    ELSEIF name IN ('start of day', 'start of month', 'start of year') THEN
        IF flags & 8 THEN
            RETURN 211813444800000;
        END IF;
        SET today = bird_sqlite.day_text(moment), y = LEFT(today, CHAR_LENGTH(today) - 6);
        IF name <> 'start of day' THEN
            RETURN bird_sqlite.midnight(y, IF(name = 'start of year', 1, LEFT(RIGHT(today, 5), 2)), 1);
        END IF;
        RETURN bird_sqlite.midnight(y, LEFT(RIGHT(today, 5), 2), RIGHT(today, 2)) + IF(flags & 3,
            (flags & 35) * 144115188075855872, 0);
    ELSEIF LEFT(name, 8) = 'weekday ' THEN
        SET amount = bird_sqlite.as_number(SUBSTRING(name, 9));
        IF amount >= 0 AND amount < 7 AND amount = TRUNCATE(amount, 0)
            AND bird_sqlite.day_text(moment) IS NOT NULL THEN
            SET weekday = (instant + 129600000) DIV 86400000 % 7;
            RETURN instant + (CAST(amount AS SIGNED) - IF(weekday > amount, weekday - 7, weekday)) * 86400000;
        END IF;
    ELSEIF name = 'localtime' OR name = 'utc' AND NOT flags & 32 THEN
        RETURN instant;
    ELSEIF name = 'utc' THEN
        RETURN moment;
    END IF;
    RETURN NULL;
END;

-- a / b where it is not known before which types they have: truncated if both are integers.
CREATE FUNCTION bird_sqlite.quotient(a DOUBLE, b DOUBLE, whole INT) RETURNS DOUBLE DETERMINISTIC NO SQL
RETURN IF(whole, TRUNCATE(a / b, 0), a / b);

-- a << n, to the right where n is negative; all bits can be shifted out.
CREATE FUNCTION bird_sqlite.shifted(a BIGINT, n BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CASE WHEN a IS NULL OR n IS NULL THEN NULL WHEN n >= 64 THEN 0 WHEN n <= -64 THEN IF(a < 0, -1, 0)
    WHEN n >= 0 THEN CAST(a << n AS SIGNED) WHEN a >= 0 THEN CAST(a >> -n AS SIGNED) ELSE CAST(~(~a >> -n) AS SIGNED) END;

-- -1, 0 or 1: an integer beside a real, both exact.
CREATE FUNCTION bird_sqlite.compared(a BIGINT, b DOUBLE) RETURNS INT DETERMINISTIC NO SQL
RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL WHEN b >= 9223372036854775808e0 THEN -1 WHEN b < -9223372036854775808e0 THEN 1
    WHEN a < CAST(TRUNCATE(b, 0) AS SIGNED) THEN -1 WHEN a > CAST(TRUNCATE(b, 0) AS SIGNED) THEN 1
    WHEN TRUNCATE(b, 0) < b THEN -1 WHEN TRUNCATE(b, 0) > b THEN 1 ELSE 0 END;

-- JSON
--
-- Read as SQLite's parser does: of two equal labels the first counts, labels are compared as they are written,
-- and numbers keep their digits. What is no JSON is NULL.

-- json_valid(). Strings, then numbers and words become a character each; lists of them shrink to one.
CREATE FUNCTION bird_sqlite.json_is_valid(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BOOLEAN DETERMINISTIC NO SQL
BEGIN
    DECLARE rest, earlier LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    IF REGEXP_LIKE(value, '[\x01-\x08\x0b\x0c\x0e-\x1f]') THEN
        RETURN FALSE;
    END IF;
    SET rest = REGEXP_REPLACE(value, '"(?:[^"\\\t\n\r]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"', CHAR(1 USING utf8mb4)),
        rest = REGEXP_REPLACE(rest, '-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null',
            CHAR(2 USING utf8mb4)),
        rest = REGEXP_REPLACE(rest, '[ \t\n\r]++', '');
    REPEAT
        SET earlier = rest, rest = REGEXP_REPLACE(rest,
            '\[(?:[\x01\x02](?:,[\x01\x02])*+)?\]|\{(?:\x01:[\x01\x02](?:,\x01:[\x01\x02])*+)?\}',
            CHAR(2 USING utf8mb4));
    UNTIL rest = earlier END REPEAT;
    RETURN rest IN (CHAR(1 USING utf8mb4), CHAR(2 USING utf8mb4));
END;

-- json(): without white space between its parts; NULL where it is no JSON.
CREATE FUNCTION bird_sqlite.json_root(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(bird_sqlite.json_is_valid(value),
    REGEXP_REPLACE(value, '("(?:[^"\\]|\\.)*+")|[ \t\n\r]++', '$1'), NULL);

-- The part that begins at a character of what json_root() gives.
CREATE FUNCTION bird_sqlite.json_part(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, start INT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT start;
    DECLARE depth INT DEFAULT 0;
    IF SUBSTRING(value, start, 1) NOT IN ('[', '{') THEN
        RETURN REGEXP_SUBSTR(value, '"(?:[^"\\]|\\.)*+"|[^\],}"]++', start);
    END IF;
    REPEAT
        SET place = REGEXP_INSTR(value, '"(?:[^"\\]|\\.)*+"|[\[\]{}]', place, 1, 1);
        SET depth = depth + CASE SUBSTRING(value, place - 1, 1)
            WHEN '[' THEN 1 WHEN '{' THEN 1 WHEN ']' THEN -1 WHEN '}' THEN -1 ELSE 0 END;
    UNTIL depth = 0 OR place = 0 END REPEAT;
    RETURN SUBSTRING(value, start, place - start);
END;

-- The member of an object with a label.
CREATE FUNCTION bird_sqlite.json_member(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE name, part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR label IS NULL OR LEFT(value, 1) <> '{' THEN
        RETURN NULL;
    END IF;
    WHILE SUBSTRING(value, place, 1) = '"' DO
        SET name = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(name) + 1,
            part = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(part) + 1;
        IF name = CONCAT('"', label, '"') THEN
            RETURN part;
        END IF;
    END WHILE;
    RETURN NULL;
END;

-- How many elements an array has; 0 of anything else.
CREATE FUNCTION bird_sqlite.json_length(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE counted BIGINT DEFAULT 0;
    IF value IS NULL OR LEFT(value, 1) <> '[' THEN
        RETURN IF(value IS NULL, NULL, 0);
    END IF;
    WHILE SUBSTRING(value, place, 1) NOT IN (']', '') DO
        SET place = place + CHAR_LENGTH(bird_sqlite.json_part(value, place)) + 1, counted = counted + 1;
    END WHILE;
    RETURN counted;
END;

-- An element of an array, counted from 0, or from the end with -1.
CREATE FUNCTION bird_sqlite.json_element(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, number BIGINT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE rest BIGINT DEFAULT IF(number < 0, bird_sqlite.json_length(value) + number, number);
    DECLARE part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR rest IS NULL OR rest < 0 OR LEFT(value, 1) <> '[' THEN
        RETURN NULL;
    END IF;
    WHILE SUBSTRING(value, place, 1) NOT IN (']', '') DO
        SET part = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(part) + 1;
        IF rest = 0 THEN
            RETURN part;
        END IF;
        SET rest = rest - 1;
    END WHILE;
    RETURN NULL;
END;

-- The part of what json_root() gives at a path; arrow: 1 for what stands behind ->, where '$' may be left out.
CREATE FUNCTION bird_sqlite.json_at(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, path LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    arrow BIGINT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE rest LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT CASE WHEN arrow = 0 OR LEFT(path, 1) = '$'
        THEN path WHEN REGEXP_LIKE(path, '^[0-9]') THEN CONCAT('$[', path, ']') WHEN LEFT(path, 1) = '['
        THEN CONCAT('$', path) ELSE CONCAT('$.', path) END;
    DECLARE part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT value;
    DECLARE step LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF rest IS NULL OR LEFT(rest, 1) <> '$' THEN
        RETURN NULL;
    END IF;
    SET rest = SUBSTRING(rest, 2);
    WHILE rest <> '' AND part IS NOT NULL DO
        SET step = REGEXP_SUBSTR(rest, '^(?:[.]"[^"]*"|[.][^."\[][^.\[]*|\[[0-9]{1,9}\]|\[#-[0-9]{1,9}\])'),
            rest = SUBSTRING(rest, CHAR_LENGTH(step) + 1),
            part = CASE WHEN step IS NULL OR REGEXP_LIKE(step, '#-0+\]') THEN NULL
                WHEN LEFT(step, 2) = '."' THEN bird_sqlite.json_member(part, SUBSTRING(step, 3, CHAR_LENGTH(step) - 3))
                WHEN LEFT(step, 1) = '.' THEN bird_sqlite.json_member(part, SUBSTRING(step, 2))
                ELSE bird_sqlite.json_element(part, REGEXP_REPLACE(step, '[^-0-9]', '')) END;
    END WHILE;
    RETURN part;
END;

-- What json_root() gives, with `part` where the steps lead: '["a",0]' is '$.a[0]', -1 the last element, null is '[#]'.
-- mode: set, insert, replace and remove of json_set() and its like.
CREATE FUNCTION bird_sqlite.json_edited(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, steps LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, mode LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE length_of_steps, counted, number BIGINT;
    DECLARE at, inner_step, place, start INT DEFAULT 0;
    DECLARE before_it, after_it LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    DECLARE whole LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT value;
    DECLARE item LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT part;
    DECLARE step, name, own LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR steps IS NULL OR part IS NULL THEN
        RETURN NULL;
    END IF;
    SET length_of_steps = bird_sqlite.json_length(steps);
    WHILE at < length_of_steps DO
        SET step = bird_sqlite.json_element(steps, at);
        IF LEFT(whole, 1) <> IF(LEFT(step, 1) = '"', '{', '[') THEN
            RETURN value;
        END IF;
        SET number = CASE WHEN LEFT(step, 1) = '"' THEN -1 WHEN step = 'null' THEN bird_sqlite.json_length(whole)
            WHEN LEFT(step, 1) = '-' THEN bird_sqlite.json_length(whole) + step ELSE step END,
            place = 2, counted = 0, own = NULL;
        look: WHILE SUBSTRING(whole, place, 1) NOT IN (']', '}', '') DO
            SET start = place;
            IF LEFT(step, 1) = '"' THEN
                SET name = bird_sqlite.json_part(whole, place), start = place + CHAR_LENGTH(name) + 1;
            END IF;
            SET own = bird_sqlite.json_part(whole, start);
            IF IF(LEFT(step, 1) = '"', name = step, counted = number) THEN
                LEAVE look;
            END IF;
            SET place = start + CHAR_LENGTH(own) + 1, counted = counted + 1, own = NULL;
        END WHILE;
        IF own IS NULL THEN
            IF mode IN ('replace', 'remove') OR LEFT(step, 1) <> '"' AND counted <> number THEN
                RETURN value;
            END IF;
            SET inner_step = length_of_steps - 1;
            WHILE inner_step > at DO
                SET name = bird_sqlite.json_element(steps, inner_step);
                IF LEFT(name, 1) <> '"' AND name <> '0' THEN
                    RETURN value;
                END IF;
                SET item = IF(name = '0', CONCAT('[', item, ']'), CONCAT('{', name, ':', item, '}')),
                    inner_step = inner_step - 1;
            END WHILE;
            RETURN CONCAT(before_it, LEFT(whole, CHAR_LENGTH(whole) - 1), IF(CHAR_LENGTH(whole) = 2, '', ','),
                IF(LEFT(step, 1) = '"', CONCAT(step, ':'), ''), item, RIGHT(whole, 1), after_it);
        END IF;
        IF mode = 'remove' AND at = length_of_steps - 1 THEN
            SET item = SUBSTRING(whole, start + CHAR_LENGTH(own));
            RETURN CONCAT(before_it, CASE WHEN LEFT(item, 1) = ',' THEN CONCAT(LEFT(whole, place - 1), SUBSTRING(item, 2))
                WHEN place > 2 THEN CONCAT(LEFT(whole, place - 2), item) ELSE CONCAT(LEFT(whole, 1), item) END, after_it);
        END IF;
        SET before_it = CONCAT(before_it, LEFT(whole, start - 1)),
            after_it = CONCAT(SUBSTRING(whole, start + CHAR_LENGTH(own)), after_it), whole = own, at = at + 1;
    END WHILE;
    RETURN IF(mode = 'insert', value, CONCAT(before_it, part, after_it));
END;

-- How many nodes SQLite counts in what json_part() gives: itself, and what is in it, labels among it.
CREATE FUNCTION bird_sqlite.json_nodes(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CHAR_LENGTH(REGEXP_REPLACE(REGEXP_REPLACE(value, '"(?:[^"\\]|\\.)*+"|[^\[\]{},:"]++|[\[{]', '"'), '[^"]', ''));

-- The rows of json_each() and, deep, of json_tree() as a list of objects: k the key as JSON, v the value as JSON, n
-- and p the numbers of the node and of its parent, f its full key and q its path. value: what json_root() gives,
-- or a part of that; base: the path to it; label: its own key as JSON, '' for none.
CREATE FUNCTION bird_sqlite.json_rows(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, deep BIGINT,
    base LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE queue JSON DEFAULT JSON_ARRAY(JSON_OBJECT('k', NULLIF(label, ''), 'v', value, 'n', 0, 'p', NULL,
        'f', CONCAT(base, CASE WHEN label = '' THEN '' WHEN REGEXP_LIKE(label, '^"[A-Za-z][A-Za-z0-9]*"$')
            THEN CONCAT('.', TRIM(BOTH '"' FROM label)) ELSE CONCAT('.', label) END), 'q', base));
    DECLARE item JSON;
    DECLARE at, place, counted INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE whole, own, name, step, part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE at < JSON_LENGTH(queue) AND (deep = 1 OR at = 0) DO
        SET item = JSON_EXTRACT(queue, CONCAT('$[', at, ']')), whole = JSON_UNQUOTE(JSON_EXTRACT(item, '$.v')),
            own = JSON_UNQUOTE(JSON_EXTRACT(item, '$.f')), number = JSON_EXTRACT(item, '$.n') + 1, place = 2,
            counted = 0;
        WHILE LEFT(whole, 1) IN ('[', '{') AND SUBSTRING(whole, place, 1) NOT IN (']', '}', '') DO
            SET name = counted, step = CONCAT('[', counted, ']');
            IF LEFT(whole, 1) = '{' THEN
                SET name = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(name) + 1,
                    number = number + 1,
                    step = CONCAT('.', IF(REGEXP_LIKE(name, '^"[A-Za-z][A-Za-z0-9]*"$'), TRIM(BOTH '"' FROM name),
                        name));
            END IF;
            SET part = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(part) + 1,
                queue = JSON_ARRAY_APPEND(queue, '$', JSON_OBJECT('k', name, 'v', part, 'n', number,
                    'p', IF(deep = 1, JSON_EXTRACT(item, '$.n'), NULL), 'f', CONCAT(own, step), 'q', own)),
                number = number + bird_sqlite.json_nodes(part), counted = counted + 1;
        END WHILE;
        SET at = at + 1;
    END WHILE;
    IF deep = 0 AND LEFT(value, 1) IN ('[', '{') THEN
        SET queue = JSON_REMOVE(queue, '$[0]');
    END IF;
    RETURN queue;
END;
