SELECT name FROM ports WHERE CAST(STRPOS(name, 'Quay') AS BIGINT) > 0 OR CAST(STRPOS(name, '''') AS BIGINT) > 0
