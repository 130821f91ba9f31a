SELECT "ports"."name" FROM "ports" ORDER BY "ports"."population" NULLS FIRST, "ports"."rowid" LIMIT 2
