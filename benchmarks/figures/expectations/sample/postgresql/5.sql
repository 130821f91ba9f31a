SELECT "Books"."title" FROM "books" AS "Books" WHERE LOWER("Books"."title") LIKE 'the %' ESCAPE ''
