SELECT COUNT(bookid) FROM books WHERE language = 'French'
