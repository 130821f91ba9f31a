-- What SQLite 3.40 computes and PostgreSQL has no word for; NULL where an argument is NULL. PostgreSQL 15 and
-- later. Installed as schema bird_sqlite.
--
-- Definitions: https://www.sqlite.org/lang_expr.html#castexpr, https://www.sqlite.org/lang_corefunc.html,
-- https://www.sqlite.org/lang_datefunc.html, https://www.sqlite.org/printf.html and, for what these leave open,
-- SQLite's util.c, printf.c, date.c and func.c.
--
-- Most calls take a short way that is proven to be exact and cheap; what it cannot prove takes the long way,
-- which follows SQLite's arithmetic in x86's 80-bit floating point step by step.

-- BINARY FLOATING POINT

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

-- CONVERSIONS

-- CAST(text AS REAL).
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

-- CAST(text AS INTEGER).
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

-- Whether arithmetic takes a text for an INTEGER.
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

-- The number that a comparison with NUMERIC affinity makes of a text; NULL where it stays a text.
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

-- A text that two of them share if they are equal as numbers, or as texts where they are none.
CREATE FUNCTION bird_sqlite.as_key(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN value ~ '^(0|-?[1-9][0-9]*)$' AND length(value) < 19 THEN value
    WHEN value ~ '^[ \t\n\v\f\r]*[+-]?\.?[0-9]' THEN bird_sqlite.number_as_key(value) ELSE value END;

-- CAST(real AS INTEGER).
CREATE FUNCTION bird_sqlite.real_to_integer(x float8) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE
        WHEN x >= 9223372036854775807 THEN 9223372036854775807
        WHEN x <= -9223372036854775808 THEN -9223372036854775808
        ELSE trunc(x)::bigint
    END;
END $$;

-- CAST(real AS TEXT).
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

-- NUMBERS

-- |x| to `places` places, if that is sure to be what SQLite prints; else NULL. 0 <= places.
--
-- SQLite 3.40 adds half a unit and, while there are digits enough, 3e-16 * x and cuts: half up of the shortest
-- decimal, but for what comes to within 1e-15 of a half.
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

-- round(x, places).
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

-- printf('%.*f', places, x).
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

-- An integer argument as SQLite's functions take it: its low 32 bits.
CREATE FUNCTION bird_sqlite.int32(n bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ((n & 4294967295) # 2147483648) - 2147483648 $$;

-- TEXT

-- lower(x), which folds ASCII alone.
CREATE FUNCTION bird_sqlite.lower_ascii(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT lower(value COLLATE "C") $$;

-- upper(x), which folds ASCII alone.
CREATE FUNCTION bird_sqlite.upper_ascii(value text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT upper(value COLLATE "C") $$;

-- substr(x, start).
CREATE FUNCTION bird_sqlite.substr_from(value text, start bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    y bigint := bird_sqlite.int32(start);
BEGIN
    IF y < 0 THEN
        RETURN bird_sqlite.substr_of(value, y, 1000000000);
    END IF;
    RETURN substr(value, y::int);
END $$;

-- substr(x, start, length).
CREATE FUNCTION bird_sqlite.substr_of(value text, start bigint, "length" bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    y bigint := bird_sqlite.int32(start);
    z bigint := abs(bird_sqlite.int32("length"));
BEGIN
    -- y counts from 0 now.
    IF y < 0 THEN
        y := y + char_length(value);
        IF y < 0 THEN
            z := greatest(z + y, 0);
            y := 0;
        END IF;
    ELSIF y > 0 THEN
        y := y - 1;
    ELSIF z > 0 THEN
        z := z - 1;
    END IF;
    IF bird_sqlite.int32("length") < 0 THEN
        y := y - z;
        IF y < 0 THEN
            z := z + y;
            y := 0;
        END IF;
    END IF;
    RETURN substr(value, least(y + 1, 1000000000)::int, least(z, 1000000000)::int);
END $$;

-- value GLOB pattern.
CREATE FUNCTION bird_sqlite.glob_match(value text, pattern text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT value COLLATE "C" ~ bird_sqlite.glob_regex(pattern) $$;

-- The regular expression that means what a GLOB pattern does.
CREATE FUNCTION bird_sqlite.glob_regex(pattern text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    never CONSTANT text := '^(?!$|.)';
    regex text := '^';
    i int := 1;
    c text;
    inverted boolean;
    members text;
    prior text;
    upper_end text;
BEGIN
    WHILE i <= char_length(pattern) LOOP
        c := substr(pattern, i, 1);
        i := i + 1;
        IF c = '*' THEN
            regex := regex || '.*';
        ELSIF c = '?' THEN
            regex := regex || '.';
        ELSIF c <> '[' THEN
            regex := regex || CASE WHEN c ~ '[[:alnum:]_]' OR ascii(c) > 127 THEN c ELSE '\' || c END;
        ELSE
            inverted := substr(pattern, i, 1) = '^';
            i := i + inverted::int;
            members := '';
            prior := NULL;
            IF substr(pattern, i, 1) = ']' THEN
                members := '\]';
                i := i + 1;
            END IF;
            LOOP
                c := substr(pattern, i, 1);
                IF c = '' THEN
                    RETURN never;
                END IF;
                i := i + 1;
                EXIT WHEN c = ']';
                upper_end := substr(pattern, i, 1);
                IF c = '-' AND prior IS NOT NULL AND upper_end NOT IN (']', '') THEN
                    IF ascii(upper_end) >= ascii(prior) THEN
                        members := members || bird_sqlite.class_member(prior) || '-'
                            || bird_sqlite.class_member(upper_end);
                    END IF;
                    prior := NULL;
                    i := i + 1;
                ELSE
                    members := members || bird_sqlite.class_member(c);
                    prior := c;
                END IF;
            END LOOP;
            regex := regex || '[' || CASE WHEN inverted THEN '^' ELSE '' END || members || ']';
        END IF;
    END LOOP;
    RETURN regex || '$';
END $$;

-- A character within brackets.
CREATE FUNCTION bird_sqlite.class_member(c text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN c ~ '[[:alnum:]_]' OR ascii(c) > 127 THEN c ELSE '\' || c END;
END $$;

-- trim(x, characters), ltrim and rtrim.
CREATE FUNCTION bird_sqlite.trim_set(value text, characters text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT btrim(value, characters) $$;

CREATE FUNCTION bird_sqlite.ltrim_set(value text, characters text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ltrim(value, characters) $$;

CREATE FUNCTION bird_sqlite.rtrim_set(value text, characters text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT rtrim(value, characters) $$;

-- unicode(x).
CREATE FUNCTION bird_sqlite.unicode_of(value text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT nullif(ascii(value), 0)::bigint $$;

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

CREATE FUNCTION bird_sqlite.milliseconds_of(moment bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN moment < 144115188075855872 THEN moment ELSE moment & 144115188075855871 END
$$;

CREATE FUNCTION bird_sqlite.flags_of(moment bigint) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN moment < 144115188075855872 THEN 0
    ELSE (moment >> 57)::int END $$;

-- The milliseconds at 00:00 of a day; days beyond the month's last count on.
CREATE FUNCTION bird_sqlite.midnight(y int, m int, d int) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    year int := CASE WHEN m <= 2 THEN y - 1 ELSE y END;
    month int := CASE WHEN m <= 2 THEN m + 12 ELSE m END;
BEGIN
    RETURN (36525 * (year + 4716) / 100 + 306001 * (month + 1) / 10000 + d + 2 - year / 100
        + year / 100 / 4 - 1524)
        * 86400000::bigint - 43200000;
END $$;

-- The moment that a text other than 'now' names.
CREATE FUNCTION bird_sqlite.parsed(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    rest text := CASE WHEN left(value, 1) = '-' THEN substr(value, 2) ELSE value END;
    dated boolean := true;
    y int := 2000;
    m int := 1;
    d int := 1;
    second text := '';
    fraction text := '';
    seconds float8;
    clock bigint := 0;
    zone int := 0;
    zoned boolean := false;
    instant bigint;
    flags bigint := 0;
BEGIN
    IF rest ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' THEN
        y := CASE WHEN left(value, 1) = '-' THEN '-' ELSE '' END || left(rest, 4);
        m := substr(rest, 6, 2);
        d := substr(rest, 9, 2);
        rest := ltrim(substr(rest, 11), E' \t\n\v\f\rT');
    ELSE
        dated := false;
        rest := value;
    END IF;
    IF rest ~ '^[0-9]{2}:[0-9]{2}' THEN
        clock := left(rest, 2)::int * 60 + substr(rest, 4, 2)::int;
        IF left(rest, 2) > '24' OR substr(rest, 4, 2) > '59' THEN
            RETURN NULL;
        END IF;
        rest := substr(rest, 6);
        IF left(rest, 1) = ':' THEN
            IF rest !~ '^:[0-5][0-9]' THEN
                RETURN NULL;
            END IF;
            second := substr(rest, 2, 2);
            fraction := coalesce(substring(rest FROM '^...(\.[0-9]+)'), '');
            rest := substr(rest, 4 + length(fraction));
        END IF;
        seconds := ('0' || second)::float8 + ('0' || fraction)::float8;
        clock := clock * 60000 + floor(seconds * 1000 + 0.5);
        rest := btrim(rest, E' \t\n\v\f\r');
        zoned := rest <> '';
        IF rest ~ '^[+-][0-9]{2}:[0-5][0-9]$' AND substr(rest, 2, 2) <= '14' THEN
            zone := (left(rest, 1) || '1')::int * (substr(rest, 2, 2)::int * 60 + right(rest, 2)::int);
        ELSIF rest NOT IN ('', 'z', 'Z') THEN
            RETURN NULL;
        END IF;
    ELSIF NOT dated OR rest <> '' THEN
        RETURN bird_sqlite.moment_of_julian(bird_sqlite.as_number(value));
    END IF;
    IF y < -4713 OR m NOT BETWEEN 1 AND 12 OR d NOT BETWEEN 1 AND 31 THEN
        RETURN NULL;
    END IF;
    instant := bird_sqlite.midnight(y, m, d) + clock - zone * 60000;
    IF instant NOT BETWEEN 0 AND 464269060799999 THEN
        RETURN instant;
    END IF;
    IF zone = 0 THEN
        IF d > 28 THEN
            flags := greatest(0, d - (bird_sqlite.midnight(y, m + 1, 1) - bird_sqlite.midnight(y, m,
                1)) / 86400000);
        END IF;
        flags := flags + CASE WHEN clock - floor(seconds * 1000 + 0.5) >= 86400000 THEN 4 ELSE 0 END
            + CASE WHEN floor(seconds * 1000 + 0.5) >= floor(seconds) * 1000 + 1000 THEN 16 ELSE 0 END;
    END IF;
    IF NOT dated AND instant NOT BETWEEN 211813444800000 AND 211813531199999 THEN
        flags := flags + 8;
    END IF;
    IF flags > 0 AND zoned THEN
        flags := flags + 32;
    END IF;
    RETURN instant + (flags << 57);
END $$;

-- The moment that a time value names; 'now' is the clock of the statement.
CREATE FUNCTION bird_sqlite.moment(value text) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    -- A day that every month has, at a time of that day.
    IF value ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])$' THEN
        RETURN 211813444800000 + (value::date - date '2000-01-01') * 86400000::bigint;
    ELSIF value ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,3})?$' THEN
        RETURN 211813444800000 + (left(value, 10)::date - date '2000-01-01') * 86400000::bigint
            + substr(value, 12, 2)::int * 3600000
            + substr(value, 15, 2)::int * 60000 + substr(value, 18, 2)::int * 1000 + rpad(substr(value, 21),
                3, '0')::int;
    ELSIF lower(value COLLATE "C") = 'now' THEN
        RETURN 210866760000000 + floor(extract(epoch FROM statement_timestamp()) * 1000);
    END IF;
    RETURN bird_sqlite.parsed(value);
END $$;

-- The moment of a julian day number.
CREATE FUNCTION bird_sqlite.moment_of_julian(day float8) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF day >= 0 AND day < 5373484.5 THEN
        RETURN trunc(day * 86400000 + 0.5);
    END IF;
    RETURN NULL;
END $$;

-- The moment of a number with the modifier 'unixepoch'.
CREATE FUNCTION bird_sqlite.moment_of_unix(seconds float8) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant float8 := CASE WHEN abs(seconds) < 1e15 THEN seconds * 1000 + 210866760000000 END;
BEGIN
    IF instant >= 0 AND instant < 464269060800000 THEN
        RETURN trunc(instant + 0.5);
    END IF;
    RETURN NULL;
END $$;

-- julianday(moment).
CREATE FUNCTION bird_sqlite.julian_of(moment bigint) RETURNS float8
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := bird_sqlite.milliseconds_of(moment);
BEGIN
    RETURN CASE WHEN instant BETWEEN 0 AND 464269060799999 THEN instant / 86400000::float8 END;
END $$;

-- unixepoch(moment).
CREATE FUNCTION bird_sqlite.unix_of(moment bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := bird_sqlite.milliseconds_of(moment);
BEGIN
    RETURN CASE WHEN instant BETWEEN 0 AND 464269060799999 THEN instant / 1000 - 210866760000 END;
END $$;

-- date(moment).
CREATE FUNCTION bird_sqlite.day_text(moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := moment;
    flags int := 0;
    day int;
    a int;
    b int;
    c int;
    e int;
    year int;
    month int;
BEGIN
    -- From the year 400 on there is one calendar.
    IF moment BETWEEN 161327505600000 AND 464269060799999 THEN
        RETURN to_char(date '2000-01-01' + ((moment + 43200000) / 86400000 - 2451545)::int, 'YYYY-MM-DD');
    ELSIF moment >= 144115188075855872 THEN
        flags := bird_sqlite.flags_of(moment);
        instant := bird_sqlite.milliseconds_of(moment);
        IF flags & 8 = 0 THEN
            instant := instant - CASE WHEN flags & 16 > 0 THEN 1000 ELSE 0 END - CASE WHEN flags & 4 > 0
                THEN 86400000 ELSE 0 END;
        END IF;
    END IF;
    IF instant NOT BETWEEN 0 AND 464269060799999 THEN
        RETURN NULL;
    END IF;
    day := (instant + 43200000) / 86400000 - (flags & 3);
    a := trunc((day - 1867216.25) / 36524.25);
    a := day + 1 + a - a / 4;
    b := a + 1524;
    c := trunc((b - 122.1) / 365.25);
    day := 36525 * c / 100;
    e := trunc((b - day) / 30.6001);
    month := CASE WHEN e < 14 THEN e - 1 ELSE e - 13 END;
    year := CASE WHEN month > 2 THEN c - 4716 ELSE c - 4715 END;
    day := b - day - trunc(30.6001 * e)::int + (flags & 3);
    RETURN CASE WHEN year < 0 THEN '-' ELSE '' END || lpad(abs(year)::text, 4, '0') || '-'
        || lpad(month::text, 2, '0')
        || '-' || lpad(day::text, 2, '0');
END $$;

-- Milliseconds of the day as printed: hour 24 counts, what was rounded up does not.
CREATE FUNCTION bird_sqlite.clock_of(moment bigint) RETURNS int
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := moment;
    flags int := 0;
BEGIN
    IF moment >= 144115188075855872 THEN
        flags := bird_sqlite.flags_of(moment);
        instant := bird_sqlite.milliseconds_of(moment) - CASE WHEN flags & 16 > 0 THEN 1000 ELSE 0 END;
    END IF;
    IF instant NOT BETWEEN 0 AND 464269060799999 THEN
        RETURN NULL;
    END IF;
    RETURN (instant + 43200000) % 86400000 + CASE WHEN flags & 4 > 0 THEN 86400000 ELSE 0 END;
END $$;

-- time(moment).
CREATE FUNCTION bird_sqlite.time_text(moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    second int := bird_sqlite.clock_of(moment) / 1000;
BEGIN
    RETURN substr((1000000 + second / 3600 * 10000 + second / 60 % 60 * 100 + second % 60)::text, 2, 2) || ':'
        || substr((100 + second / 60 % 60)::text, 2) || ':' || substr((100 + second % 60)::text, 2);
END $$;

-- datetime(moment).
CREATE FUNCTION bird_sqlite.datetime_text(moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN bird_sqlite.day_text(moment) || ' ' || bird_sqlite.time_text(moment);
END $$;

-- strftime(format, moment).
CREATE FUNCTION bird_sqlite.format_moment(format text, moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    date text := bird_sqlite.day_text(moment);
    rest text := format;
    at int;
    printed text := '';
BEGIN
    IF date IS NULL THEN
        RETURN NULL;
    ELSIF format = '%Y' AND left(date, 1) <> '-' THEN
        RETURN left(date, 4);
    END IF;
    LOOP
        at := strpos(rest, '%');
        EXIT WHEN at = 0;
        printed := printed || left(rest, at - 1) || bird_sqlite.substitution(substr(rest, at + 1, 1), moment,
            date);
        rest := substr(rest, at + 2);
    END LOOP;
    RETURN printed || rest;
END $$;

-- What strftime puts in place of % and `letter`; `date` is day_text(moment).
CREATE FUNCTION bird_sqlite.substitution(letter text, moment bigint, date text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    instant bigint := bird_sqlite.milliseconds_of(moment);
    clock int;
    days int;
    julian float8;
BEGIN
    CASE letter
        WHEN '%' THEN
            RETURN '%';
        WHEN 'd' THEN
            RETURN right(date, 2);
        WHEN 'm' THEN
            RETURN left(right(date, 5), 2);
        WHEN 'Y' THEN
            RETURN CASE WHEN left(date, 2) = '-0' THEN '-' || substr(date, 3, 3) ELSE left(date, -6) END;
        WHEN 'H', 'M', 'S' THEN
            RETURN substr(bird_sqlite.time_text(moment), CASE letter WHEN 'H' THEN 1 WHEN 'M' THEN 4
                ELSE 7 END, 2);
        WHEN 'f' THEN
            clock := bird_sqlite.clock_of(moment) % 60000;
            IF bird_sqlite.flags_of(moment) & 16 > 0 THEN
                clock := least(clock - clock % 1000 + 1000, 59999);
            END IF;
            RETURN substr((100000 + clock)::text, 2, 2) || '.' || right((100000 + clock)::text, 3);
        WHEN 'j', 'W' THEN
            days := (instant - bird_sqlite.clock_of(moment) + 43200000
                - CASE WHEN bird_sqlite.flags_of(moment) & 16 > 0 THEN 1000 ELSE 0 END
                - bird_sqlite.midnight(left(date, -6)::int, 1, 1)) / 86400000;
            IF letter = 'j' THEN
                RETURN lpad((days + 1)::text, 3, '0');
            END IF;
            RETURN lpad(((days + 7 - (instant + 43200000) / 86400000 % 7) / 7)::text, 2, '0');
        WHEN 'J' THEN
            julian := instant / 86400000::float8;
            RETURN CASE WHEN instant % 43200000 = 0 THEN julian::text ELSE bird_sqlite.printed(julian, 'g',
                16) END;
        WHEN 's' THEN
            RETURN instant / 1000 - 210866760000;
        WHEN 'w' THEN
            RETURN (instant + 129600000) / 86400000 % 7;
        ELSE
            RETURN NULL;
    END CASE;
END $$;

-- A moment some months on, in the year that is then; days beyond the month's last count on.
CREATE FUNCTION bird_sqlite.months_added(moment bigint, months bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    date text := bird_sqlite.day_text(moment);
    y int := left(date, -6);
    m int := left(right(date, 5), 2)::int + CASE WHEN abs(months) < 176546 THEN months END;
    years int := CASE WHEN m > 0 THEN (m - 1) / 12 ELSE (m - 12) / 12 END;
BEGIN
    IF y + years NOT BETWEEN -4713 AND 9999 THEN
        RETURN NULL;
    END IF;
    RETURN bird_sqlite.midnight(y + years, m - years * 12, right(date, 2)::int) + bird_sqlite.clock_of(moment)
        + CASE WHEN bird_sqlite.flags_of(moment) & 16 > 0 THEN 1000 ELSE 0 END;
END $$;

-- A moment with one modifier applied; NULL for one that SQLite does not know or that is for numbers only
-- ('unixepoch', 'julianday', 'auto'). Local time is UTC.
CREATE FUNCTION bird_sqlite.modified(moment bigint, modifier text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    name text := lower(modifier COLLATE "C");
    instant bigint := bird_sqlite.milliseconds_of(moment);
    number text := split_part(translate(name, E'\t\n\v\f\r', '     '), ' ', 1);
    unit text := regexp_replace(ltrim(substr(name, length(number) + 1), E' \t\n\v\f\r'), 's$', '');
    amount float8;
    rounder float8;
    date text;
    y int;
    weekday int;
BEGIN
    IF unit IN ('second', 'minute', 'hour', 'day', 'month', 'year') AND left(number, 1) <> '.' THEN
        amount := bird_sqlite.as_number(number);
        rounder := CASE WHEN amount < 0 THEN -0.5 ELSE 0.5 END;
        IF abs(amount) >= (CASE unit WHEN 'second' THEN 464269992787968 WHEN 'minute' THEN 7737900007424
            WHEN 'hour' THEN 128969998336 WHEN 'day' THEN 5373485 WHEN 'month' THEN 176546
                ELSE 14713 END) THEN
            RETURN NULL;
        END IF;
        IF unit IN ('month', 'year') THEN
            instant := bird_sqlite.months_added(moment, trunc(amount)::int * CASE unit WHEN 'month' THEN 1
                ELSE 12 END);
            amount := amount - trunc(amount);
        END IF;
        RETURN instant + trunc(amount * 1000 * CASE unit WHEN 'second' THEN 1 WHEN 'minute' THEN 60
            WHEN 'hour' THEN 3600
            WHEN 'day' THEN 86400 WHEN 'month' THEN 2592000 ELSE 31536000 END + rounder)::bigint;
    ELSIF name ~ '^[+-]?[0-9]{2}:' THEN
        amount := (bird_sqlite.milliseconds_of(bird_sqlite.parsed(ltrim(name, '+-'))) - 43200000) % 86400000;
        RETURN instant + CASE WHEN left(name, 1) = '-' THEN -amount ELSE amount END;
    ELSIF name IN ('start of day', 'start of month', 'start of year') THEN
        IF bird_sqlite.flags_of(moment) & 8 > 0 THEN
            RETURN 211813444800000;
        END IF;
        date := bird_sqlite.day_text(moment);
        y := left(date, -6);
        IF name <> 'start of day' THEN
            RETURN bird_sqlite.midnight(y, CASE name WHEN 'start of year' THEN 1 ELSE left(right(date, 5),
                2)::int END, 1);
        END IF;
        RETURN bird_sqlite.midnight(y, left(right(date, 5), 2)::int, right(date, 2)::int) + CASE
            WHEN bird_sqlite.flags_of(moment) & 3 > 0 THEN (bird_sqlite.flags_of(moment) & 35)::bigint << 57
            ELSE 0
        END;
    ELSIF number = 'weekday' AND substr(name, 8, 1) = ' ' THEN
        amount := bird_sqlite.as_number(substr(name, 9));
        IF amount >= 0 AND amount < 7 AND amount = trunc(amount)
            AND bird_sqlite.day_text(moment) IS NOT NULL THEN
            weekday := (instant + 129600000) / 86400000 % 7;
            RETURN instant + (amount::int - CASE WHEN weekday > amount THEN weekday - 7
                ELSE weekday END) * 86400000::bigint;
        END IF;
    ELSIF name = 'localtime' OR name = 'utc' AND bird_sqlite.flags_of(moment) & 32 = 0 THEN
        RETURN instant;
    ELSIF name = 'utc' THEN
        RETURN moment;
    END IF;
    RETURN NULL;
END $$;

-- a / b where it is not known before which types they have: truncated if both are integers.
CREATE FUNCTION bird_sqlite.quotient(a float8, b float8, whole boolean) RETURNS float8
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN whole THEN trunc(a / nullif(b, 0)) ELSE a / nullif(b, 0) END;

-- a << n, to the right where n is negative; all bits can be shifted out.
CREATE FUNCTION bird_sqlite.shifted(a bigint, n bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN n >= 64 THEN a - a WHEN n <= -64 THEN CASE WHEN a < 0 THEN -1 WHEN a >= 0 THEN 0 END
    WHEN n >= 0 THEN a << n::int ELSE a >> (-n)::int END;

-- -1, 0 or 1: an integer beside a real, both exact.
CREATE FUNCTION bird_sqlite.compared(a bigint, b float8) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN a IS NULL OR b IS NULL THEN NULL
    WHEN b >= 9223372036854775808 THEN -1 WHEN b < -9223372036854775808 THEN 1
    WHEN a < trunc(b)::bigint THEN -1 WHEN a > trunc(b)::bigint THEN 1
    WHEN trunc(b) < b THEN -1 WHEN trunc(b) > b THEN 1 ELSE 0 END;

-- JSON
--
-- Read as SQLite's parser does: of two equal labels the first counts, labels are compared as they are written,
-- and numbers keep their digits. What is no JSON is NULL. https://sqlite.org/json1.html and SQLite's json.c.

-- json_valid(). Strings, then numbers and words become a character each; lists of them shrink to one.
CREATE FUNCTION bird_sqlite.json_is_valid(value text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    rest text;
    earlier text;
BEGIN
    IF value ~ '[\u0001-\u0008\u000b\u000c\u000e-\u001f]' THEN
        RETURN false;
    END IF;
    rest := regexp_replace(value, '"(?:[^"\\\t\n\r]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"', chr(1), 'g');
    rest := regexp_replace(rest, '-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null', chr(2), 'g');
    rest := regexp_replace(rest, '[ \t\n\r]+', '', 'g');
    LOOP
        earlier := rest;
        rest := regexp_replace(rest,
            '\[(?:[\u0001\u0002](?:,[\u0001\u0002])*)?\]|\{(?:\u0001:[\u0001\u0002](?:,\u0001:[\u0001\u0002])*)?\}',
            chr(2), 'g');
        EXIT WHEN rest = earlier;
    END LOOP;
    RETURN rest IN (chr(1), chr(2));
END $$;

-- json(): without white space between its parts; NULL where it is no JSON.
CREATE FUNCTION bird_sqlite.json_root(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN bird_sqlite.json_is_valid(value) THEN
        regexp_replace(value, '("(?:[^"\\]|\\.)*")|[ \t\n\r]+', '\1', 'g') END;
END $$;

-- The part that begins at a character of what json_root() gives.
CREATE FUNCTION bird_sqlite.json_part(value text, start int) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    place int := start;
    depth int := 0;
BEGIN
    IF substr(value, start, 1) NOT IN ('[', '{') THEN
        RETURN regexp_substr(value, '"(?:[^"\\]|\\.)*"|[^\],}"]+', start);
    END IF;
    LOOP
        place := regexp_instr(value, '"(?:[^"\\]|\\.)*"|[\[\]{}]', place, 1, 1);
        depth := depth + CASE substr(value, place - 1, 1)
            WHEN '[' THEN 1 WHEN '{' THEN 1 WHEN ']' THEN -1 WHEN '}' THEN -1 ELSE 0 END;
        EXIT WHEN depth = 0 OR place = 0;
    END LOOP;
    RETURN substr(value, start, place - start);
END $$;

-- The member of an object with a label.
CREATE FUNCTION bird_sqlite.json_member(value text, label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    place int := 2;
    name text;
    part text;
BEGIN
    IF left(value, 1) <> '{' THEN
        RETURN NULL;
    END IF;
    WHILE substr(value, place, 1) = '"' LOOP
        name := bird_sqlite.json_part(value, place);
        place := place + length(name) + 1;
        part := bird_sqlite.json_part(value, place);
        place := place + length(part) + 1;
        IF name = '"' || label || '"' THEN
            RETURN part;
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

-- How many elements an array has; 0 of anything else.
CREATE FUNCTION bird_sqlite.json_length(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    place int := 2;
    counted bigint := 0;
BEGIN
    IF left(value, 1) <> '[' THEN
        RETURN 0;
    END IF;
    WHILE substr(value, place, 1) NOT IN (']', '') LOOP
        place := place + length(bird_sqlite.json_part(value, place)) + 1;
        counted := counted + 1;
    END LOOP;
    RETURN counted;
END $$;

-- An element of an array, counted from 0, or from the end with -1.
CREATE FUNCTION bird_sqlite.json_element(value text, number bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    place int := 2;
    rest bigint := CASE WHEN number < 0 THEN bird_sqlite.json_length(value) + number ELSE number END;
    part text;
BEGIN
    IF rest < 0 OR left(value, 1) <> '[' THEN
        RETURN NULL;
    END IF;
    WHILE substr(value, place, 1) NOT IN (']', '') LOOP
        part := bird_sqlite.json_part(value, place);
        place := place + length(part) + 1;
        IF rest = 0 THEN
            RETURN part;
        END IF;
        rest := rest - 1;
    END LOOP;
    RETURN NULL;
END $$;

-- The part of what json_root() gives at a path; arrow: 1 for what stands behind ->, where '$' may be left out.
CREATE FUNCTION bird_sqlite.json_at(value text, path text, arrow bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    rest text := CASE WHEN arrow = 0 OR left(path, 1) = '$' THEN path WHEN path ~ '^[0-9]' THEN '$[' || path || ']'
        WHEN left(path, 1) = '[' THEN '$' || path ELSE '$.' || path END;
    part text := value;
    step text;
BEGIN
    IF left(rest, 1) <> '$' THEN
        RETURN NULL;
    END IF;
    rest := substr(rest, 2);
    WHILE rest <> '' AND part IS NOT NULL LOOP
        step := substring(rest FROM '^(?:\."[^"]*"|\.[^."[][^.[]*|\[[0-9]{1,9}\]|\[#-[0-9]{1,9}\])');
        rest := substr(rest, length(step) + 1);
        part := CASE WHEN step IS NULL OR step ~ '#-0+\]' THEN NULL
            WHEN left(step, 2) = '."' THEN bird_sqlite.json_member(part, substr(step, 3, length(step) - 3))
            WHEN left(step, 1) = '.' THEN bird_sqlite.json_member(part, substr(step, 2))
            ELSE bird_sqlite.json_element(part, btrim(step, '[#]')::bigint) END;
    END LOOP;
    RETURN part;
END $$;

-- What json_root() gives, with `part` where the steps lead: '["a",0]' is '$.a[0]', -1 the last element, null is '[#]'.
-- mode: set, insert, replace and remove of json_set() and its like.
CREATE FUNCTION bird_sqlite.json_edited(value text, steps text, part text, mode text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    length_of_steps bigint := bird_sqlite.json_length(steps);
    before text := '';
    after text := '';
    whole text := value;
    item text := part;
    step text;
    name text;
    own text;
    place int;
    start int;
    counted bigint;
    number bigint;
BEGIN
    FOR at IN 0 .. length_of_steps - 1 LOOP
        step := bird_sqlite.json_element(steps, at);
        IF left(whole, 1) <> (CASE WHEN left(step, 1) = '"' THEN '{' ELSE '[' END) THEN
            RETURN value;
        END IF;
        number := CASE WHEN left(step, 1) = '"' THEN -1 WHEN step = 'null' THEN bird_sqlite.json_length(whole)
            WHEN left(step, 1) = '-' THEN bird_sqlite.json_length(whole) + step::bigint ELSE step::bigint END;
        place := 2;
        counted := 0;
        own := NULL;
        WHILE substr(whole, place, 1) NOT IN (']', '}', '') LOOP
            start := place;
            IF left(step, 1) = '"' THEN
                name := bird_sqlite.json_part(whole, place);
                start := place + length(name) + 1;
            END IF;
            own := bird_sqlite.json_part(whole, start);
            EXIT WHEN CASE WHEN left(step, 1) = '"' THEN name = step ELSE counted = number END;
            place := start + length(own) + 1;
            counted := counted + 1;
            own := NULL;
        END LOOP;
        IF own IS NULL THEN
            IF mode IN ('replace', 'remove') OR left(step, 1) <> '"' AND counted <> number THEN
                RETURN value;
            END IF;
            FOR inner_step IN REVERSE length_of_steps - 1 .. at + 1 LOOP
                name := bird_sqlite.json_element(steps, inner_step);
                IF left(name, 1) <> '"' AND name <> '0' THEN
                    RETURN value;
                END IF;
                item := CASE WHEN name = '0' THEN '[' || item || ']' ELSE '{' || name || ':' || item || '}' END;
            END LOOP;
            RETURN before || left(whole, -1) || CASE WHEN length(whole) = 2 THEN '' ELSE ',' END
                || CASE WHEN left(step, 1) = '"' THEN step || ':' ELSE '' END || item || right(whole, 1) || after;
        END IF;
        IF mode = 'remove' AND at = length_of_steps - 1 THEN
            item := substr(whole, start + length(own));
            RETURN before || CASE WHEN left(item, 1) = ',' THEN left(whole, place - 1) || substr(item, 2)
                WHEN place > 2 THEN left(whole, place - 2) || item ELSE left(whole, 1) || item END || after;
        END IF;
        before := before || left(whole, start - 1);
        after := substr(whole, start + length(own)) || after;
        whole := own;
    END LOOP;
    RETURN CASE WHEN mode = 'insert' THEN value ELSE before || part || after END;
END $$;

-- How many nodes SQLite counts in what json_part() gives: itself, and what is in it, labels among it.
CREATE FUNCTION bird_sqlite.json_nodes(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN regexp_count(value, '"(?:[^"\\]|\\.)*"|[^\[\]{},:"]+|[\[{]');
END $$;

-- The rows of json_each() and, deep, of json_tree() as a list of objects: k the key as JSON, v the value as JSON, n
-- and p the numbers of the node and of its parent, f its full key and q its path. value: what json_root() gives,
-- or a part of that; base: the path to it; label: its own key as JSON, '' for none.
CREATE FUNCTION bird_sqlite.json_rows(value text, deep bigint, base text, label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    queue jsonb := jsonb_build_array(jsonb_build_object('k', NULLIF(label, ''), 'v', value, 'n', 0, 'p', NULL,
        'f', base || CASE WHEN label = '' THEN '' WHEN label ~ '^"[A-Za-z][A-Za-z0-9]*"$' THEN '.' || btrim(label, '"')
            ELSE '.' || label END, 'q', base));
    item jsonb;
    at int := 0;
    place int;
    counted int;
    number bigint;
    whole text;
    name text;
    step text;
    part text;
BEGIN
    WHILE at < jsonb_array_length(queue) AND (deep = 1 OR at = 0) LOOP
        item := queue -> at;
        whole := item ->> 'v';
        number := (item ->> 'n')::bigint + 1;
        place := 2;
        counted := 0;
        WHILE left(whole, 1) IN ('[', '{') AND substr(whole, place, 1) NOT IN (']', '}', '') LOOP
            name := counted::text;
            step := '[' || name || ']';
            IF left(whole, 1) = '{' THEN
                name := bird_sqlite.json_part(whole, place);
                place := place + length(name) + 1;
                number := number + 1;
                step := '.' || CASE WHEN name ~ '^"[A-Za-z][A-Za-z0-9]*"$' THEN btrim(name, '"') ELSE name END;
            END IF;
            part := bird_sqlite.json_part(whole, place);
            place := place + length(part) + 1;
            queue := queue || jsonb_build_object('k', name, 'v', part, 'n', number,
                'p', CASE WHEN deep = 1 THEN item -> 'n' END, 'f', (item ->> 'f') || step, 'q', item ->> 'f');
            number := number + bird_sqlite.json_nodes(part);
            counted := counted + 1;
        END LOOP;
        at := at + 1;
    END LOOP;
    IF deep = 0 AND left(value, 1) IN ('[', '{') THEN
        queue := queue - 0;
    END IF;
    RETURN queue::text;
END $$;
