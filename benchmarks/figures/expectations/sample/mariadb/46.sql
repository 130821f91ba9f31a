SELECT COUNT(check_id) FROM plant_checks WHERE SUBSTRING(CONCAT(checked, ' 00:00:00'), 12, 2) < '10'
