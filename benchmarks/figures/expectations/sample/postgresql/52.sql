SELECT "observers"."name" FROM "observers" WHERE CAST(STRPOS("observers"."languages", 'fr') AS BIGINT) > 0
