SELECT SUBSTRING(`storm alerts`.`issued`, 1, 10) AS `_c1` FROM `storm alerts` WHERE `storm alerts`.`severity` = 'red' UNION SELECT `readings`.`day` FROM `readings` WHERE `readings`.`rain_mm` > 25
