SELECT CAST(SUM(COALESCE("ports"."population", 0)) AS BIGINT) FROM "ports" WHERE "ports"."island" = 'Holm'
