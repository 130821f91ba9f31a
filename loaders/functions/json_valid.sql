-- json_valid().
--
-- Source: https://sqlite.org/json1.html#jvalid

-- Engine: mysql, mariadb

-- json_valid(). Strings, then numbers and words become a character each; lists of them shrink to one.
CREATE FUNCTION bird_sqlite.json_is_valid(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BOOLEAN DETERMINISTIC NO SQL
BEGIN
    DECLARE rest, earlier LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    IF (value REGEXP '[\x01-\x08\x0b\x0c\x0e-\x1f]') THEN
        RETURN FALSE;
    END IF;
    SET rest = REGEXP_REPLACE(value, '"(?:[^"\\\t\n\r]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"', CHAR(1 USING utf8mb4)),
        rest = REGEXP_REPLACE(rest, '-?(?:0|[1-9][0-9]*+)(?:[.][0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null',
            CHAR(2 USING utf8mb4)),
        rest = REGEXP_REPLACE(rest, '[ \t\n\r]++', '');
    REPEAT
        SET earlier = rest, rest = REGEXP_REPLACE(rest,
            '\[(?:[\x01\x02](?:,[\x01\x02])*+)?\]|\{(?:\x01:[\x01\x02](?:,\x01:[\x01\x02])*+)?\}',
            CHAR(2 USING utf8mb4));
    UNTIL rest = earlier END REPEAT;
    RETURN rest IN (CHAR(1 USING utf8mb4), CHAR(2 USING utf8mb4));
END;

-- Engine: postgresql

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_is_valid(VARCHAR) RETURNS BOOLEAN LANGUAGE sqlite AS $$ json_valid(?1) $$;
