SELECT Title, isbn FROM books WHERE `Shelf Mark` = '7'
