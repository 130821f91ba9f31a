SELECT Title, isbn FROM Books WHERE "Shelf Mark" = '7'
