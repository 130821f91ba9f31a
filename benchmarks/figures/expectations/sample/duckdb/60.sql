SELECT "lightning"."current_ka", "lightning"."strike_ms" FROM "lightning" ORDER BY "lightning"."current_ka" DESC, "lightning"."rowid" LIMIT 1 OFFSET 1
