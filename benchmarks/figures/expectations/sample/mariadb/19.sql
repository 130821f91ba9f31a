SELECT `vessels`.`Name` FROM `vessels` ORDER BY `vessels`.`Speed (kn)` DESC, `vessels`.`vessel_id` LIMIT 2 OFFSET 1
