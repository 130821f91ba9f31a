SELECT COUNT(BookID) FROM Books WHERE Language = 'French'
