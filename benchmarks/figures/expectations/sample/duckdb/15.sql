SELECT COUNT("Patrons"."patron_id") FROM "Patrons" WHERE "Patrons"."email" IS NULL OR "Patrons"."email" = ''
