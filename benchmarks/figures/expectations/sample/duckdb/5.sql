SELECT "Books"."Title" FROM "Books" WHERE TRANSLATE("Books"."Title", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz') LIKE 'the %' ESCAPE ''
