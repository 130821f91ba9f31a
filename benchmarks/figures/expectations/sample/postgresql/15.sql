SELECT COUNT("Patrons"."patron_id") FROM "patrons" AS "Patrons" WHERE "Patrons"."email" IS NULL OR "Patrons"."email" = ''
