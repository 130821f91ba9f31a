-- The arguments that SQLite reads as C's int.

-- Engine: mysql, mariadb

-- An integer argument as SQLite's functions take it: its low 32 bits.
CREATE FUNCTION bird_sqlite.int32(n BIGINT) RETURNS BIGINT DETERMINISTIC NO SQL
RETURN CAST((n & 4294967295) ^ 2147483648 AS SIGNED) - 2147483648;

-- Engine: postgresql

CREATE FUNCTION bird_sqlite.int32(n bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT ((n & 4294967295) # 2147483648) - 2147483648 $$;
