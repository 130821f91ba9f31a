SELECT COUNT(DISTINCT patron_id) FROM loans WHERE fine > 0
