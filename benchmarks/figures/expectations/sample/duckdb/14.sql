SELECT "Books"."group", (ARRAY_AGG("Books"."Title" ORDER BY "Books"."Price" DESC, "Books"."rowid"))[1], MAX("Books"."Price") FROM "Books" WHERE "Books"."group" IS NOT NULL GROUP BY "Books"."group"
