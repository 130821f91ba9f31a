SELECT title, isbn FROM books WHERE "Shelf Mark" = '7'
