SELECT "stations"."name", "stations"."elevation_m" FROM "stations" ORDER BY "stations"."elevation_m" DESC NULLS LAST, "stations"."ctid" LIMIT 1 OFFSET 1
