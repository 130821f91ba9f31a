-- The modifiers of a time value, such as '+1 month' and 'start of year'.
--
-- Source: https://www.sqlite.org/lang_datefunc.html#modifiers and SQLite's date.c.

-- Engine: mysql, mariadb

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

-- Engine: postgresql

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.modified(BIGINT, VARCHAR) RETURNS BIGINT LANGUAGE python;
