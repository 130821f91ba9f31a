SELECT SUBSTR(loan_date, 6, 2) FROM loans WHERE SUBSTR(loan_date, 1, 4) = '2022' GROUP BY SUBSTR(loan_date, 6, 2) ORDER BY COUNT(loan_id) DESC, SUBSTR(loan_date, 6, 2) DESC LIMIT 1
