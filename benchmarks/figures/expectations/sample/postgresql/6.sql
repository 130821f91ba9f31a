SELECT T1.first_name || ' ' || T1.last_name FROM patrons AS T1 LEFT JOIN loans AS T2 ON T1.patron_id = T2.patron_id WHERE T2.loan_id IS NULL
