-- trim(x, characters), ltrim() and rtrim() with a set of characters. PostgreSQL and DuckDB trim sets themselves; COLLATE
-- RTRIM calls rtrim_set everywhere.
--
-- Source: https://www.sqlite.org/lang_corefunc.html#trim

-- Engine: mysql, mariadb

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

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.rtrim_set(value text, characters text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT rtrim(value, characters) $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.rtrim_set(VARCHAR, VARCHAR) RETURNS VARCHAR LANGUAGE sqlite AS $$ rtrim(?1, ?2) $$;
