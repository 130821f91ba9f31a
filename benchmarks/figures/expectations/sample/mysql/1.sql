SELECT COUNT(BookID) FROM books WHERE Language = 'French'
