SELECT COUNT(DISTINCT `loans`.`patron_id`) FROM `loans` WHERE `loans`.`fine` > 0
