SELECT `ports`.`name` FROM `ports` ORDER BY `ports`.`population`, `ports`.`port_id` LIMIT 2
