SELECT COUNT("Books"."bookid") FROM "books" AS "Books" WHERE "Books"."language" = 'French'
