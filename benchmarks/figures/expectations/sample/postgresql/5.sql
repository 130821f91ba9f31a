SELECT title FROM books WHERE title ILIKE 'the %'
