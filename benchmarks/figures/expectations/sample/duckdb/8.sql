SELECT COUNT(*) FROM "Books" WHERE SUBSTRING("Books"."published", 1, 3) = '199'
