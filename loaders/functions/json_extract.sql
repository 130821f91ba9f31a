-- json_extract(), -> and ->>, and json_array_length(): parts of what json_root() gives.
--
-- Source: https://sqlite.org/json1.html#jex

-- Engine: mysql, mariadb

-- The member of an object with a label.
CREATE FUNCTION bird_sqlite.json_member(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE name, part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR label IS NULL OR LEFT(value, 1) <> '{' THEN
        RETURN NULL;
    END IF;
    WHILE SUBSTRING(value, place, 1) = '"' DO
        SET name = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(name) + 1,
            part = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(part) + 1;
        IF name = CONCAT('"', label, '"') THEN
            RETURN part;
        END IF;
    END WHILE;
    RETURN NULL;
END;

-- How many elements an array has; 0 of anything else.
CREATE FUNCTION bird_sqlite.json_length(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE counted BIGINT DEFAULT 0;
    IF value IS NULL OR LEFT(value, 1) <> '[' THEN
        RETURN IF(value IS NULL, NULL, 0);
    END IF;
    WHILE SUBSTRING(value, place, 1) NOT IN (']', '') DO
        SET place = place + CHAR_LENGTH(bird_sqlite.json_part(value, place)) + 1, counted = counted + 1;
    END WHILE;
    RETURN counted;
END;

-- An element of an array, counted from 0, or from the end with -1.
CREATE FUNCTION bird_sqlite.json_element(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, number BIGINT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT 2;
    DECLARE rest BIGINT DEFAULT IF(number < 0, bird_sqlite.json_length(value) + number, number);
    DECLARE part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR rest IS NULL OR rest < 0 OR LEFT(value, 1) <> '[' THEN
        RETURN NULL;
    END IF;
    WHILE SUBSTRING(value, place, 1) NOT IN (']', '') DO
        SET part = bird_sqlite.json_part(value, place), place = place + CHAR_LENGTH(part) + 1;
        IF rest = 0 THEN
            RETURN part;
        END IF;
        SET rest = rest - 1;
    END WHILE;
    RETURN NULL;
END;

-- Engine: mysql

-- The part that begins at a character of what json_root() gives.
CREATE FUNCTION bird_sqlite.json_part(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, start INT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT start;
    DECLARE depth INT DEFAULT 0;
    IF SUBSTRING(value, start, 1) NOT IN ('[', '{') THEN
        RETURN REGEXP_SUBSTR(value, '"(?:[^"\\]|\\.)*+"|[^\],}"]++', start);
    END IF;
    REPEAT
        SET place = REGEXP_INSTR(value, '"(?:[^"\\]|\\.)*+"|[\[\]{}]', place, 1, 1);
        SET depth = depth + CASE SUBSTRING(value, place - 1, 1)
            WHEN '[' THEN 1 WHEN '{' THEN 1 WHEN ']' THEN -1 WHEN '}' THEN -1 ELSE 0 END;
    UNTIL depth = 0 OR place = 0 END REPEAT;
    RETURN SUBSTRING(value, start, place - start);
END;

-- Engine: mariadb

-- REGEXP_INSTR has no argument for the end of a match, REGEXP_SUBSTR none for the start, and finds '' for NULL.

CREATE FUNCTION bird_sqlite.json_part(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, start INT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE place INT DEFAULT start;
    DECLARE depth INT DEFAULT 0;
    IF SUBSTRING(value, start, 1) NOT IN ('[', '{') THEN
        RETURN NULLIF(REGEXP_SUBSTR(SUBSTRING(value, start), '"(?:[^"\\]|\\.)*+"|[^\],}"]++'), '');
    END IF;
    REPEAT
        SET place = IF(SUBSTRING(value, place) REGEXP '"(?:[^"\\]|\\.)*+"|[\[\]{}]', place - 1 + REGEXP_INSTR(SUBSTRING(value, place), '"(?:[^"\\]|\\.)*+"|[\[\]{}]') + CHAR_LENGTH(REGEXP_SUBSTR(SUBSTRING(value, place), '"(?:[^"\\]|\\.)*+"|[\[\]{}]')), 0);
        SET depth = depth + CASE SUBSTRING(value, place - 1, 1)
            WHEN '[' THEN 1 WHEN '{' THEN 1 WHEN ']' THEN -1 WHEN '}' THEN -1 ELSE 0 END;
    UNTIL depth = 0 OR place = 0 END REPEAT;
    RETURN SUBSTRING(value, start, place - start);
END;

-- Engine: mysql, mariadb

-- The part of what json_root() gives at a path; arrow: 1 for what stands behind ->, where '$' may be left out. What
-- does not match is NULL on MySQL, and '' on MariaDB.
CREATE FUNCTION bird_sqlite.json_at(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, path LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    arrow BIGINT)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE rest LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT CASE WHEN arrow = 0 OR LEFT(path, 1) = '$'
        THEN path WHEN (path REGEXP '^[0-9]') THEN CONCAT('$[', path, ']') WHEN LEFT(path, 1) = '['
        THEN CONCAT('$', path) ELSE CONCAT('$.', path) END;
    DECLARE part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT value;
    DECLARE step LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF rest IS NULL OR LEFT(rest, 1) <> '$' THEN
        RETURN NULL;
    END IF;
    SET rest = SUBSTRING(rest, 2);
    WHILE rest <> '' AND part IS NOT NULL DO
        SET step = NULLIF(REGEXP_SUBSTR(rest, '^(?:[.]"[^"]*"|[.][^."\[][^.\[]*|\[[0-9]{1,9}\]|\[#-[0-9]{1,9}\])'), ''),
            rest = SUBSTRING(rest, CHAR_LENGTH(step) + 1),
            part = CASE WHEN step IS NULL OR (step REGEXP '#-0+\]') THEN NULL
                WHEN LEFT(step, 2) = '."' THEN bird_sqlite.json_member(part, SUBSTRING(step, 3, CHAR_LENGTH(step) - 3))
                WHEN LEFT(step, 1) = '.' THEN bird_sqlite.json_member(part, SUBSTRING(step, 2))
                ELSE bird_sqlite.json_element(part, REGEXP_REPLACE(step, '[^-0-9]', '')) END;
    END WHILE;
    RETURN part;
END;

-- Engine: postgresql

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_member(VARCHAR, VARCHAR) RETURNS VARCHAR LANGUAGE python;
CREATE FUNCTION bird_sqlite.json_length(VARCHAR) RETURNS BIGINT LANGUAGE python;
CREATE FUNCTION bird_sqlite.json_element(VARCHAR, BIGINT) RETURNS VARCHAR LANGUAGE python;
CREATE FUNCTION bird_sqlite.json_at(VARCHAR, VARCHAR, BIGINT) RETURNS VARCHAR LANGUAGE python;
