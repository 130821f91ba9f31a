-- json(): the text that the other functions of JSON read.
--
-- JSON is read as SQLite's parser does: of two equal labels the first counts, labels are compared as they are
-- written, and numbers keep their digits. What is no JSON is NULL.
--
-- Source: https://sqlite.org/json1.html#jmini and SQLite's json.c.

-- Engine: mysql

-- json(): without white space between its parts; NULL where it is no JSON.
CREATE FUNCTION bird_sqlite.json_root(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(bird_sqlite.json_is_valid(value),
    REGEXP_REPLACE(value, '("(?:[^"\\]|\\.)*+")|[ \t\n\r]++', '$1'), NULL);

-- Engine: mariadb

-- A group is written \1 in the replacement.

CREATE FUNCTION bird_sqlite.json_root(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(bird_sqlite.json_is_valid(value),
    REGEXP_REPLACE(value, '("(?:[^"\\]|\\.)*+")|[ \t\n\r]++', '\1'), NULL);

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.json_root(value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN bird_sqlite.json_is_valid(value) THEN
        regexp_replace(value, '("(?:[^"\\]|\\.)*")|[ \t\n\r]+', '\1', 'g') END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_root(VARCHAR) RETURNS VARCHAR LANGUAGE sqlite AS $$ CASE WHEN json_valid(?1) THEN json(?1) END $$;
