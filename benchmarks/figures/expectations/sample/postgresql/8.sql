SELECT COUNT(*) FROM books WHERE SUBSTR(published, 1, 3) = '199'
