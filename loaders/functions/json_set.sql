-- json_set(), json_insert(), json_replace(), json_remove() and json_patch().
--
-- Source: https://sqlite.org/json1.html#jset

-- Engine: mysql, mariadb

-- What json_root() gives, with `part` where the steps lead: '["a",0]' is '$.a[0]', -1 the last element, null is '[#]'.
-- mode: set, insert, replace and remove of json_set() and its like.
CREATE FUNCTION bird_sqlite.json_edited(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, steps LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    part LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, mode LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
    RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE length_of_steps, counted, number BIGINT;
    DECLARE at, inner_step, place, start INT DEFAULT 0;
    DECLARE before_it, after_it LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    DECLARE whole LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT value;
    DECLARE item LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT part;
    DECLARE step, name, own LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    IF value IS NULL OR steps IS NULL OR part IS NULL THEN
        RETURN NULL;
    END IF;
    SET length_of_steps = bird_sqlite.json_length(steps);
    WHILE at < length_of_steps DO
        SET step = bird_sqlite.json_element(steps, at);
        IF LEFT(whole, 1) <> IF(LEFT(step, 1) = '"', '{', '[') THEN
            RETURN value;
        END IF;
        SET number = CASE WHEN LEFT(step, 1) = '"' THEN -1 WHEN step = 'null' THEN bird_sqlite.json_length(whole)
            WHEN LEFT(step, 1) = '-' THEN bird_sqlite.json_length(whole) + step ELSE step END,
            place = 2, counted = 0, own = NULL;
        look: WHILE SUBSTRING(whole, place, 1) NOT IN (']', '}', '') DO
            SET start = place;
            IF LEFT(step, 1) = '"' THEN
                SET name = bird_sqlite.json_part(whole, place), start = place + CHAR_LENGTH(name) + 1;
            END IF;
            SET own = bird_sqlite.json_part(whole, start);
            IF IF(LEFT(step, 1) = '"', name = step, counted = number) THEN
                LEAVE look;
            END IF;
            SET place = start + CHAR_LENGTH(own) + 1, counted = counted + 1, own = NULL;
        END WHILE;
        IF own IS NULL THEN
            IF mode IN ('replace', 'remove') OR LEFT(step, 1) <> '"' AND counted <> number THEN
                RETURN value;
            END IF;
            SET inner_step = length_of_steps - 1;
            WHILE inner_step > at DO
                SET name = bird_sqlite.json_element(steps, inner_step);
                IF LEFT(name, 1) <> '"' AND name <> '0' THEN
                    RETURN value;
                END IF;
                SET item = IF(name = '0', CONCAT('[', item, ']'), CONCAT('{', name, ':', item, '}')),
                    inner_step = inner_step - 1;
            END WHILE;
            RETURN CONCAT(before_it, LEFT(whole, CHAR_LENGTH(whole) - 1), IF(CHAR_LENGTH(whole) = 2, '', ','),
                IF(LEFT(step, 1) = '"', CONCAT(step, ':'), ''), item, RIGHT(whole, 1), after_it);
        END IF;
        IF mode = 'remove' AND at = length_of_steps - 1 THEN
            SET item = SUBSTRING(whole, start + CHAR_LENGTH(own));
            RETURN CONCAT(before_it, CASE WHEN LEFT(item, 1) = ',' THEN CONCAT(LEFT(whole, place - 1), SUBSTRING(item, 2))
                WHEN place > 2 THEN CONCAT(LEFT(whole, place - 2), item) ELSE CONCAT(LEFT(whole, 1), item) END, after_it);
        END IF;
        SET before_it = CONCAT(before_it, LEFT(whole, start - 1)),
            after_it = CONCAT(SUBSTRING(whole, start + CHAR_LENGTH(own)), after_it), whole = own, at = at + 1;
    END WHILE;
    RETURN IF(mode = 'insert', value, CONCAT(before_it, part, after_it));
END;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.json_edited(value text, steps text, part text, mode text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    length_of_steps bigint := bird_sqlite.json_length(steps);
    before text := '';
    after text := '';
    whole text := value;
    item text := part;
    step text;
    name text;
    own text;
    place int;
    start int;
    counted bigint;
    number bigint;
BEGIN
    FOR at IN 0 .. length_of_steps - 1 LOOP
        step := bird_sqlite.json_element(steps, at);
        IF left(whole, 1) <> (CASE WHEN left(step, 1) = '"' THEN '{' ELSE '[' END) THEN
            RETURN value;
        END IF;
        number := CASE WHEN left(step, 1) = '"' THEN -1 WHEN step = 'null' THEN bird_sqlite.json_length(whole)
            WHEN left(step, 1) = '-' THEN bird_sqlite.json_length(whole) + step::bigint ELSE step::bigint END;
        place := 2;
        counted := 0;
        own := NULL;
        WHILE substr(whole, place, 1) NOT IN (']', '}', '') LOOP
            start := place;
            IF left(step, 1) = '"' THEN
                name := bird_sqlite.json_part(whole, place);
                start := place + length(name) + 1;
            END IF;
            own := bird_sqlite.json_part(whole, start);
            EXIT WHEN CASE WHEN left(step, 1) = '"' THEN name = step ELSE counted = number END;
            place := start + length(own) + 1;
            counted := counted + 1;
            own := NULL;
        END LOOP;
        IF own IS NULL THEN
            IF mode IN ('replace', 'remove') OR left(step, 1) <> '"' AND counted <> number THEN
                RETURN value;
            END IF;
            FOR inner_step IN REVERSE length_of_steps - 1 .. at + 1 LOOP
                name := bird_sqlite.json_element(steps, inner_step);
                IF left(name, 1) <> '"' AND name <> '0' THEN
                    RETURN value;
                END IF;
                item := CASE WHEN name = '0' THEN '[' || item || ']' ELSE '{' || name || ':' || item || '}' END;
            END LOOP;
            RETURN before || left(whole, -1) || CASE WHEN length(whole) = 2 THEN '' ELSE ',' END
                || CASE WHEN left(step, 1) = '"' THEN step || ':' ELSE '' END || item || right(whole, 1) || after;
        END IF;
        IF mode = 'remove' AND at = length_of_steps - 1 THEN
            item := substr(whole, start + length(own));
            RETURN before || CASE WHEN left(item, 1) = ',' THEN left(whole, place - 1) || substr(item, 2)
                WHEN place > 2 THEN left(whole, place - 2) || item ELSE left(whole, 1) || item END || after;
        END IF;
        before := before || left(whole, start - 1);
        after := substr(whole, start + length(own)) || after;
        whole := own;
    END LOOP;
    RETURN CASE WHEN mode = 'insert' THEN value ELSE before || part || after END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.json_edited(VARCHAR, VARCHAR, VARCHAR, VARCHAR) RETURNS VARCHAR LANGUAGE python;
