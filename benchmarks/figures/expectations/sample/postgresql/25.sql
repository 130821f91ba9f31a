SELECT "ports"."name" FROM "ports" WHERE CAST(STRPOS("ports"."name", 'Quay') AS BIGINT) > 0 OR CAST(STRPOS("ports"."name", '''') AS BIGINT) > 0
