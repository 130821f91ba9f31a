-- json_each() and json_tree().
--
-- Source: https://sqlite.org/json1.html#jeach

-- Engine: mysql, mariadb

-- How many nodes SQLite counts in what json_part() gives: itself, and what is in it, labels among it.
CREATE FUNCTION bird_sqlite.json_nodes(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CHAR_LENGTH(REGEXP_REPLACE(REGEXP_REPLACE(value, '"(?:[^"\\]|\\.)*+"|[^\[\]{},:"]++|[\[{]', '"'), '[^"]', ''));

-- Engine: mysql

-- The rows of json_each() and, deep, of json_tree() as a list of objects: k the key as JSON, v the value as JSON, n
-- and p the numbers of the node and of its parent, f its full key and q its path. value: what json_root() gives,
-- or a part of that; base: the path to it; label: its own key as JSON, '' for none.
CREATE FUNCTION bird_sqlite.json_rows(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, deep BIGINT,
    base LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE queue JSON DEFAULT JSON_ARRAY(JSON_OBJECT('k', NULLIF(label, ''), 'v', value, 'n', 0, 'p', NULL,
        'f', CONCAT(base, CASE WHEN label = '' THEN '' WHEN REGEXP_LIKE(label, '^"[A-Za-z][A-Za-z0-9]*"$')
            THEN CONCAT('.', TRIM(BOTH '"' FROM label)) ELSE CONCAT('.', label) END), 'q', base));
    DECLARE item JSON;
    DECLARE at, place, counted INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE whole, own, name, step, part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE at < JSON_LENGTH(queue) AND (deep = 1 OR at = 0) DO
        SET item = JSON_EXTRACT(queue, CONCAT('$[', at, ']')), whole = JSON_UNQUOTE(JSON_EXTRACT(item, '$.v')),
            own = JSON_UNQUOTE(JSON_EXTRACT(item, '$.f')), number = JSON_EXTRACT(item, '$.n') + 1, place = 2,
            counted = 0;
        WHILE LEFT(whole, 1) IN ('[', '{') AND SUBSTRING(whole, place, 1) NOT IN (']', '}', '') DO
            SET name = counted, step = CONCAT('[', counted, ']');
            IF LEFT(whole, 1) = '{' THEN
                SET name = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(name) + 1,
                    number = number + 1,
                    step = CONCAT('.', IF(REGEXP_LIKE(name, '^"[A-Za-z][A-Za-z0-9]*"$'), TRIM(BOTH '"' FROM name),
                        name));
            END IF;
            SET part = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(part) + 1,
                queue = JSON_ARRAY_APPEND(queue, '$', JSON_OBJECT('k', name, 'v', part, 'n', number,
                    'p', IF(deep = 1, JSON_EXTRACT(item, '$.n'), NULL), 'f', CONCAT(own, step), 'q', own)),
                number = number + bird_sqlite.json_nodes(part), counted = counted + 1;
        END WHILE;
        SET at = at + 1;
    END WHILE;
    IF deep = 0 AND LEFT(value, 1) IN ('[', '{') THEN
        SET queue = JSON_REMOVE(queue, '$[0]');
    END IF;
    RETURN queue;
END;

-- Engine: mariadb

-- JSON is a text of another collation.

CREATE FUNCTION bird_sqlite.json_rows(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, deep BIGINT,
    base LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, label LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE queue LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT JSON_ARRAY(JSON_OBJECT('k', NULLIF(label, ''), 'v', value, 'n', 0, 'p', NULL,
        'f', CONCAT(base, CASE WHEN label = '' THEN '' WHEN (label REGEXP '^"[A-Za-z][A-Za-z0-9]*"$')
            THEN CONCAT('.', TRIM(BOTH '"' FROM label)) ELSE CONCAT('.', label) END), 'q', base));
    DECLARE item LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE at, place, counted INT DEFAULT 0;
    DECLARE number BIGINT;
    DECLARE whole, own, name, step, part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE at < JSON_LENGTH(queue) AND (deep = 1 OR at = 0) DO
        SET item = JSON_EXTRACT(queue, CONCAT('$[', at, ']')), whole = JSON_UNQUOTE(JSON_EXTRACT(item, '$.v')),
            own = JSON_UNQUOTE(JSON_EXTRACT(item, '$.f')), number = JSON_EXTRACT(item, '$.n') + 1, place = 2,
            counted = 0;
        WHILE LEFT(whole, 1) IN ('[', '{') AND SUBSTRING(whole, place, 1) NOT IN (']', '}', '') DO
            SET name = counted, step = CONCAT('[', counted, ']');
            IF LEFT(whole, 1) = '{' THEN
                SET name = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(name) + 1,
                    number = number + 1,
                    step = CONCAT('.', IF((name REGEXP '^"[A-Za-z][A-Za-z0-9]*"$'), TRIM(BOTH '"' FROM name),
                        name));
            END IF;
            SET part = bird_sqlite.json_part(whole, place), place = place + CHAR_LENGTH(part) + 1,
                queue = JSON_ARRAY_APPEND(queue, '$', JSON_OBJECT('k', name, 'v', part, 'n', number,
                    'p', IF(deep = 1, JSON_EXTRACT(item, '$.n'), NULL), 'f', CONCAT(own, step), 'q', own)),
                number = number + bird_sqlite.json_nodes(part), counted = counted + 1;
        END WHILE;
        SET at = at + 1;
    END WHILE;
    IF deep = 0 AND LEFT(value, 1) IN ('[', '{') THEN
        SET queue = JSON_REMOVE(queue, '$[0]');
    END IF;
    RETURN queue;
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.json_nodes(value text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN regexp_count(value, '"(?:[^"\\]|\\.)*"|[^\[\]{},:"]+|[\[{]');
END $$;

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

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_rows(VARCHAR, BIGINT, VARCHAR, VARCHAR) RETURNS VARCHAR LANGUAGE python;
