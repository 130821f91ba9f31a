-- Time values: what date() and the other functions of time take as their first argument.
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
--
-- Source: https://www.sqlite.org/lang_datefunc.html#time_values and SQLite's date.c.

-- Engine: mysql, mariadb

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

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.milliseconds_of(moment bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN moment < 144115188075855872 THEN moment ELSE moment & 144115188075855871 END
$$;

CREATE FUNCTION bird_sqlite.flags_of(moment bigint) RETURNS int
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN moment < 144115188075855872 THEN 0
    ELSE (moment >> 57)::int END $$;

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

CREATE FUNCTION bird_sqlite.moment_of_julian(day float8) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    IF day >= 0 AND day < 5373484.5 THEN
        RETURN trunc(day * 86400000 + 0.5);
    END IF;
    RETURN NULL;
END $$;

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.milliseconds_of(BIGINT) RETURNS BIGINT LANGUAGE python;
CREATE FUNCTION bird_sqlite.moment(VARCHAR) RETURNS BIGINT LANGUAGE python;
CREATE FUNCTION bird_sqlite.moment_of_julian(DOUBLE) RETURNS BIGINT LANGUAGE python;
CREATE FUNCTION bird_sqlite.moment_of_unix(DOUBLE) RETURNS BIGINT LANGUAGE python;
