-- date(), time() and datetime() of a moment.
--
-- Source: https://www.sqlite.org/lang_datefunc.html

-- Engine: mysql, mariadb

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

-- Engine: postgresql

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

CREATE FUNCTION bird_sqlite.time_text(moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    second int := bird_sqlite.clock_of(moment) / 1000;
BEGIN
    RETURN substr((1000000 + second / 3600 * 10000 + second / 60 % 60 * 100 + second % 60)::text, 2, 2) || ':'
        || substr((100 + second / 60 % 60)::text, 2) || ':' || substr((100 + second % 60)::text, 2);
END $$;

CREATE FUNCTION bird_sqlite.datetime_text(moment bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN bird_sqlite.day_text(moment) || ' ' || bird_sqlite.time_text(moment);
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.day_text(BIGINT) RETURNS VARCHAR LANGUAGE python;
CREATE FUNCTION bird_sqlite.time_text(BIGINT) RETURNS VARCHAR LANGUAGE python;
CREATE FUNCTION bird_sqlite.datetime_text(BIGINT) RETURNS VARCHAR LANGUAGE python;
