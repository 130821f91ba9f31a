SELECT SUBSTRING(loan_date, 6, 2) FROM loans WHERE SUBSTRING(loan_date, 1, 4) = '2022' GROUP BY SUBSTRING(loan_date, 6, 2) ORDER BY COUNT(loan_id) DESC, SUBSTRING(loan_date, 6, 2) DESC LIMIT 1
