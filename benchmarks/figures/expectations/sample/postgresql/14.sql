SELECT "group", (ARRAY_AGG(title ORDER BY Books.price DESC NULLS LAST, Books.ctid))[1], MAX(price) FROM books WHERE "group" IS NOT NULL GROUP BY "group"
