SELECT COUNT(DISTINCT `readings`.`observer_id`) FROM `readings` WHERE `readings`.`day` LIKE '2023-07%' ESCAPE '|'
