SELECT "Books"."title", "Books"."pages" / 25 FROM "books" AS "Books" WHERE "Books"."language" = 'English' AND "Books"."group" = 'Teen'
