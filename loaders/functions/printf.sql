-- printf('%.*f') and its like.
--
-- Source: https://www.sqlite.org/printf.html and SQLite's printf.c.

-- Engine: mysql, mariadb

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

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.surely_rounded(x float8, places int) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    size float8 := abs(x);
    shortest numeric := CASE WHEN size < 1e15 THEN size::text::numeric END;
    rounded numeric := round(shortest * 1.000000000000001, places);
BEGIN
    IF rounded = round(shortest, places) AND size >= 1 AND places + log(size) * 1.11 < 14
        OR rounded = round(shortest * 0.999999999999999, places) THEN
        RETURN rounded;
    END IF;
    RETURN NULL;
END $$;

-- x as printf prints it. kind: f for '%.*f', e and g likewise, E for '%!.*e', G for '%!.*g'. `precision` >= 0.
CREATE FUNCTION bird_sqlite.printed(x float8, kind text, "precision" bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    places int := CASE WHEN kind IN ('g', 'G') THEN greatest("precision" - 1, 0) ELSE "precision" END;
    rounder float8 := (ARRAY[5e-1, 5e-2, 5e-3, 5e-4, 5e-5, 5e-6, 5e-7, 5e-8, 5e-9,
        5e-10])[(places & 4095) % 10 + 1];
    value numeric := bird_sqlite.exact(abs(x));
    binary_exponent int := (('x' || encode(float8send(abs(x)), 'hex'))::bit(64)::bigint >> 52) - 1023;
    scale numeric := 1;
    exponent int := 0;
    significant int := CASE WHEN kind IN ('E', 'G') THEN 26 ELSE 16 END;
    digits text := '';
    whole text;
    scientific boolean := false;
BEGIN
    IF x IN ('Infinity', '-Infinity') THEN
        RETURN CASE WHEN x > 0 THEN 'Inf' ELSE '-Inf' END;
    END IF;
    FOR _ IN 1 .. (places & 4095) / 10 LOOP
        rounder := CASE WHEN rounder > 1e-300 THEN rounder * 1e-10 ELSE 0 END;
    END LOOP;
    IF kind = 'f' THEN
        IF value > 0 AND places + binary_exponent / 3 < 15 THEN
            rounder := bird_sqlite.long_double(
                bird_sqlite.exact(rounder) + bird_sqlite.long_double(value * bird_sqlite.exact(3e-16)));
        END IF;
        IF value > 0 OR rounder > 0 THEN
            value := bird_sqlite.long_double(value + bird_sqlite.exact(rounder));
        END IF;
    END IF;
    IF value > 0 THEN
        WHILE value >= bird_sqlite.long_double(bird_sqlite.exact(1e100) * scale) LOOP
            scale := bird_sqlite.long_double(bird_sqlite.exact(1e100) * scale);
            exponent := exponent + 100;
        END LOOP;
        WHILE value >= bird_sqlite.long_double(1e10 * scale) LOOP
            scale := bird_sqlite.long_double(1e10 * scale);
            exponent := exponent + 10;
        END LOOP;
        WHILE value >= bird_sqlite.long_double(10 * scale) LOOP
            scale := bird_sqlite.long_double(10 * scale);
            exponent := exponent + 1;
        END LOOP;
        value := bird_sqlite.long_double(value, scale);
        WHILE value < bird_sqlite.exact(1e-8) LOOP
            value := bird_sqlite.long_double(value * 1e8);
            exponent := exponent - 8;
        END LOOP;
        WHILE value < 1 LOOP
            value := bird_sqlite.long_double(value * 10);
            exponent := exponent - 1;
        END LOOP;
    END IF;
    IF kind <> 'f' THEN
        value := bird_sqlite.long_double(value + bird_sqlite.exact(rounder));
        IF value >= 10 THEN
            value := bird_sqlite.long_double(value * bird_sqlite.exact(0.1));
            exponent := exponent + 1;
        END IF;
        scientific := kind IN ('e', 'E') OR exponent < -4 OR exponent > places;
        IF NOT scientific THEN
            places := places - exponent;
        END IF;
    END IF;
    FOR _ IN 1 .. least(significant, places + 1 + CASE WHEN scientific THEN 0 ELSE exponent END) LOOP
        digits := digits || trunc(value)::text;
        value := (value - trunc(value)) * 10;
        IF value > 0 THEN
            value := bird_sqlite.long_double(value);
        END IF;
    END LOOP;
    IF scientific THEN
        whole := left(digits, 1);
        digits := rpad(substr(digits, 2), places, '0');
    ELSIF exponent >= 0 THEN
        whole := rpad(left(digits, exponent + 1), exponent + 1, '0');
        digits := rpad(substr(digits, exponent + 2), places, '0');
    ELSE
        whole := '0';
        digits := left(rpad(repeat('0', least(-exponent - 1, places)) || digits, places, '0'), places);
    END IF;
    IF kind NOT IN ('e', 'f') THEN
        digits := rtrim(digits, '0');
        IF kind IN ('E', 'G') AND digits = '' THEN
            digits := '0';
        END IF;
    END IF;
    RETURN CASE WHEN x < 0 THEN '-' ELSE '' END || whole || CASE WHEN digits = '' THEN '' ELSE '.'
        || digits END
        || CASE WHEN scientific
            THEN 'e' || CASE WHEN exponent < 0 THEN '-' ELSE '+' END || lpad(abs(exponent)::text, greatest(2,
                length(abs(exponent)::text)), '0')
            ELSE '' END;
END $$;

CREATE FUNCTION bird_sqlite.fixed(x float8, places bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    n int := abs(bird_sqlite.int32(places));
    rounded numeric := bird_sqlite.surely_rounded(x, n);
BEGIN
    IF rounded IS NOT NULL THEN
        RETURN CASE WHEN x < 0 THEN '-' || rounded ELSE rounded::text END;
    END IF;
    RETURN bird_sqlite.printed(x, 'f', n);
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.printed(DOUBLE, VARCHAR, BIGINT) RETURNS VARCHAR LANGUAGE sqlite AS $$ printf(CASE ?2 WHEN 'f' THEN '%.*f' WHEN 'e' THEN '%.*e' WHEN 'g' THEN '%.*g' WHEN 'E' THEN '%!.*e' ELSE '%!.*g' END, ?3, ?1) $$;
CREATE FUNCTION bird_sqlite.fixed(DOUBLE, BIGINT) RETURNS VARCHAR LANGUAGE sqlite AS $$ printf('%.*f', ?2, ?1) $$;
