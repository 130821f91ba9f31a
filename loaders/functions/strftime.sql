-- strftime() of a moment.
--
-- Source: https://www.sqlite.org/lang_datefunc.html and strftimeFunc() of SQLite's date.c.

-- Engine: mysql, mariadb

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

-- Engine: postgresql

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.format_moment(VARCHAR, BIGINT) RETURNS VARCHAR LANGUAGE python;
