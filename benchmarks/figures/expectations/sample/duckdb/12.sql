SELECT "Books"."Title", "Books"."Pages" // 25 FROM "Books" WHERE "Books"."Language" = 'English' AND "Books"."group" = 'Teen'
