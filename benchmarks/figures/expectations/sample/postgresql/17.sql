SELECT "Books"."title", "Books"."isbn" FROM "books" AS "Books" WHERE "Books"."Shelf Mark" = '7'
