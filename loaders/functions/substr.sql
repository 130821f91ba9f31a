-- substr(x, start) and substr(x, start, length).
--
-- Source: https://www.sqlite.org/lang_corefunc.html#substr

-- Engine: mysql, mariadb

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

-- Engine: postgresql

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.substr_from(VARCHAR, BIGINT) RETURNS VARCHAR LANGUAGE sqlite AS $$ substr(?1, ?2) $$;
CREATE FUNCTION bird_sqlite.substr_of(VARCHAR, BIGINT, BIGINT) RETURNS VARCHAR LANGUAGE sqlite AS $$ substr(?1, ?2, ?3) $$;
