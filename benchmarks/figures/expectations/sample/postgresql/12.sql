SELECT title, pages / 25 FROM books WHERE language = 'English' AND "group" = 'Teen'
