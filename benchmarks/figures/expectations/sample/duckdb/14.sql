SELECT "group", (ARRAY_AGG(Title ORDER BY Books.Price DESC, Books.rowid))[1], MAX(Price) FROM Books WHERE "group" IS NOT NULL GROUP BY "group"
