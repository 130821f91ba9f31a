SELECT `t1`.`name` FROM `stations` AS `t1` WHERE EXISTS(SELECT 1 FROM `storm alerts` AS `t2` WHERE `t2`.`code` = `t1`.`code` AND `t2`.`lifted` IS NULL)
