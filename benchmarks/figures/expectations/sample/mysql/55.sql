SELECT name FROM stations AS t1 WHERE EXISTS(SELECT 1 FROM `storm alerts` AS t2 WHERE code = t1.code AND lifted IS NULL)
