SELECT "Vessels"."Name" FROM "Vessels" ORDER BY "Vessels"."Speed (kn)" DESC, "Vessels"."rowid" LIMIT 2 OFFSET 1
