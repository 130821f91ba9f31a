SELECT "lightning"."current_ka", "lightning"."strike_ms" FROM "lightning" ORDER BY "lightning"."current_ka" DESC NULLS LAST, "lightning"."ctid" LIMIT 1 OFFSET 1
