SELECT COUNT(*) FROM "books" AS "Books" WHERE SUBSTR("Books"."published", 1, 3) = '199'
