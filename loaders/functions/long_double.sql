-- The arithmetic of x86's 80-bit floating point, in which SQLite reads and prints real numbers step by step.
--
-- On MySQL a "long" is a positive number of that format: 100000 * mantissa + (exponent + 50000), with
-- 2^63 <= mantissa < 2^64. 0 is 0. On PostgreSQL it is a numeric.
--
-- Source: SQLite's util.c and printf.c.

-- Engine: mysql, mariadb

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

-- Engine: postgresql

-- n / d as the 80-bit format holds it: 64 bits, halves to even. Both positive.
CREATE FUNCTION bird_sqlite.long_double(n numeric, d numeric DEFAULT 1) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    shift int := 63 - floor(bird_sqlite.bits(n) - bird_sqlite.bits(d));
    shifted numeric;
    unit numeric;
    mantissa numeric;
    twice_rest numeric;
BEGIN
    LOOP
        shifted := CASE WHEN shift > 0 THEN n * power(2::numeric, shift) ELSE n END;
        unit := CASE WHEN shift < 0 THEN d * power(2::numeric, -shift) ELSE d END;
        mantissa := div(shifted, unit);
        EXIT WHEN mantissa BETWEEN 9223372036854775808 AND 18446744073709551615;
        shift := shift + CASE WHEN mantissa < 9223372036854775808 THEN 1 ELSE -1 END;
    END LOOP;
    twice_rest := 2 * (shifted - mantissa * unit);
    IF twice_rest > unit OR twice_rest = unit AND mod(mantissa, 2) = 1 THEN
        mantissa := mantissa + 1;
    END IF;
    RETURN bird_sqlite.scaled(mantissa, -shift);
END $$;

-- log2(n), roughly.
CREATE FUNCTION bird_sqlite.bits(n numeric) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE
        WHEN n > 1e300 THEN length(trunc(n)::text) * 3.3219
        WHEN n < 1e-300 THEN bird_sqlite.bits(n * 1e300) - 996.578
        ELSE ln(n::float8) / ln(2::float8)
    END;
END $$;

-- n * 2^e, exactly.
CREATE FUNCTION bird_sqlite.scaled(n numeric, e int) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN n * CASE WHEN e < 0 THEN power(5::numeric, -e) * ('1e' || e)::numeric ELSE power(2::numeric,
        e) END;
END $$;

-- The value of a double, exactly.
CREATE FUNCTION bird_sqlite.exact(x float8) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    pattern bigint := ('x' || encode(float8send(abs(x)), 'hex'))::bit(64)::bigint;
    exponent int := pattern >> 52;
    fraction bigint := pattern & 4503599627370495;
    size numeric := CASE
        WHEN exponent = 0 THEN bird_sqlite.scaled(fraction, -1074)
        ELSE bird_sqlite.scaled(fraction + 4503599627370496, exponent - 1075)
    END;
BEGIN
    RETURN CASE WHEN x < 0 THEN -size ELSE size END;
END $$;
