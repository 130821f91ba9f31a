-- x GLOB pattern.
--
-- Source: https://www.sqlite.org/lang_expr.html#like and patternCompare() of SQLite's func.c.

-- Engine: mysql, mariadb

-- The regular expression that means what a GLOB pattern does, under the flag s.
CREATE FUNCTION bird_sqlite.glob_regex(pattern LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
BEGIN
    DECLARE regex, segment, members LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DEFAULT '';
    DECLARE c, prior, upper_end VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin;
    DECLARE i INT DEFAULT 1;
    DECLARE stars BOOLEAN DEFAULT FALSE;
    DECLARE inverted BOOLEAN;
    IF pattern IS NULL THEN
        RETURN NULL;
    END IF;
    WHILE i <= CHAR_LENGTH(pattern) DO
        SET c = SUBSTRING(pattern, i, 1), i = i + 1;
        IF c = '*' THEN
            -- What lies between two stars need not be tried again: its earliest match is as good as any.
            SET regex = IF(stars, CONCAT(regex, '(?>.*?', segment, ')'), segment), segment = '', stars = TRUE;
        ELSEIF c = '?' THEN
            SET segment = CONCAT(segment, '.');
        ELSEIF c <> '[' THEN
            SET segment = CONCAT(segment, bird_sqlite.regex_character(c));
        ELSE
            SET inverted = SUBSTRING(pattern, i, 1) = '^', i = i + inverted, members = '', prior = NULL;
            IF SUBSTRING(pattern, i, 1) = ']' THEN
                SET members = '\]', i = i + 1;
            END IF;
            SET c = SUBSTRING(pattern, i, 1);
            WHILE c <> ']' DO
                IF c = '' THEN
                    RETURN '(?!)';
                END IF;
                SET i = i + 1, upper_end = SUBSTRING(pattern, i, 1);
                IF c = '-' AND prior IS NOT NULL AND upper_end NOT IN (']', '') THEN
                    IF upper_end >= prior THEN
                        SET members = CONCAT(members, bird_sqlite.regex_character(prior), '-',
                            bird_sqlite.regex_character(upper_end));
                    END IF;
                    SET prior = NULL, i = i + 1;
                ELSE
                    SET members = CONCAT(members, bird_sqlite.regex_character(c)), prior = c;
                END IF;
                SET c = SUBSTRING(pattern, i, 1);
            END WHILE;
            SET i = i + 1, segment = CONCAT(segment, '[', IF(inverted, '^', ''), members, ']');
        END IF;
    END WHILE;
    RETURN CONCAT('^', regex, IF(stars, '.*', ''), segment, '\z');
END;

-- A character that stands for itself in a regular expression, within brackets or not.
CREATE FUNCTION bird_sqlite.regex_character(c VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
RETURNS VARCHAR(2) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin DETERMINISTIC NO SQL
RETURN IF(c BETWEEN '0' AND '9' OR c BETWEEN 'A' AND 'Z' OR c BETWEEN 'a' AND 'z' OR c > CHAR(127), c,
    CONCAT('\', c));

-- value GLOB pattern. MariaDB takes a pattern of NULL for one that does not match, once it has matched another.
CREATE FUNCTION bird_sqlite.glob_match(value LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin,
    pattern LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) RETURNS BOOLEAN DETERMINISTIC NO SQL
RETURN IF(LOCATE('[', pattern) = 0,
    value LIKE REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(pattern, '|', '||'), '%', '|%'), '_', '|_'), '*', '%'),
        '?', '_') ESCAPE '|',
    IF(pattern IS NULL, NULL, value REGEXP CONCAT('(?s)', bird_sqlite.glob_regex(pattern))));

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.glob_match(value text, pattern text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT value COLLATE "C" ~ bird_sqlite.glob_regex(pattern) $$;

-- The regular expression that means what a GLOB pattern does.
CREATE FUNCTION bird_sqlite.glob_regex(pattern text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    never CONSTANT text := '^(?!$|.)';
    regex text := '^';
    i int := 1;
    c text;
    inverted boolean;
    members text;
    prior text;
    upper_end text;
BEGIN
    WHILE i <= char_length(pattern) LOOP
        c := substr(pattern, i, 1);
        i := i + 1;
        IF c = '*' THEN
            regex := regex || '.*';
        ELSIF c = '?' THEN
            regex := regex || '.';
        ELSIF c <> '[' THEN
            regex := regex || CASE WHEN c ~ '[[:alnum:]_]' OR ascii(c) > 127 THEN c ELSE '\' || c END;
        ELSE
            inverted := substr(pattern, i, 1) = '^';
            i := i + inverted::int;
            members := '';
            prior := NULL;
            IF substr(pattern, i, 1) = ']' THEN
                members := '\]';
                i := i + 1;
            END IF;
            LOOP
                c := substr(pattern, i, 1);
                IF c = '' THEN
                    RETURN never;
                END IF;
                i := i + 1;
                EXIT WHEN c = ']';
                upper_end := substr(pattern, i, 1);
                IF c = '-' AND prior IS NOT NULL AND upper_end NOT IN (']', '') THEN
                    IF ascii(upper_end) >= ascii(prior) THEN
                        members := members || bird_sqlite.class_member(prior) || '-'
                            || bird_sqlite.class_member(upper_end);
                    END IF;
                    prior := NULL;
                    i := i + 1;
                ELSE
                    members := members || bird_sqlite.class_member(c);
                    prior := c;
                END IF;
            END LOOP;
            regex := regex || '[' || CASE WHEN inverted THEN '^' ELSE '' END || members || ']';
        END IF;
    END LOOP;
    RETURN regex || '$';
END $$;

-- A character within brackets.
CREATE FUNCTION bird_sqlite.class_member(c text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN CASE WHEN c ~ '[[:alnum:]_]' OR ascii(c) > 127 THEN c ELSE '\' || c END;
END $$;

-- Engine: duckdb

CREATE FUNCTION bird_sqlite.glob_match(VARCHAR, VARCHAR) RETURNS BOOLEAN LANGUAGE sqlite AS $$ ?1 GLOB ?2 $$;
