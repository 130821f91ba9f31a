SELECT `lightning`.`current_ka`, `lightning`.`strike_ms` FROM `lightning` ORDER BY `lightning`.`current_ka` DESC, `lightning`.`strike_id` LIMIT 1 OFFSET 1
