SELECT CONCAT(t1.first_name, ' ', t1.last_name) FROM patrons AS t1 LEFT JOIN loans AS t2 ON t1.patron_id = t2.patron_id WHERE t2.loan_id IS NULL
