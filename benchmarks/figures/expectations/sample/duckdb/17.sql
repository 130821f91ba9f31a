SELECT "Books"."Title", "Books"."isbn" FROM "Books" WHERE "Books"."Shelf Mark" = '7'
