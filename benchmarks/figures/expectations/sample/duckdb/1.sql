SELECT COUNT("Books"."BookID") FROM "Books" WHERE "Books"."Language" = 'French'
