SELECT "ports"."name" FROM "ports" ORDER BY "ports"."population" NULLS FIRST, "ports"."ctid" LIMIT 2
