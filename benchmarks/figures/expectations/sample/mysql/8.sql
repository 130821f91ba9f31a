SELECT COUNT(*) FROM books WHERE SUBSTRING(published, 1, 3) = '199'
