SELECT "Vessels"."name" FROM "vessels" AS "Vessels" ORDER BY "Vessels"."Speed (kn)" DESC, "Vessels"."ctid" LIMIT 2 OFFSET 1
