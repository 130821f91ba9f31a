SELECT (CAST(SUM(CASE WHEN `books`.`group` = 'Adult' THEN 1 ELSE 0 END) AS DOUBLE) * 100e0) / NULLIF(CAST(COUNT(`books`.`BookID`) AS DOUBLE), 0) FROM `books` WHERE `books`.`Price` >= 20
