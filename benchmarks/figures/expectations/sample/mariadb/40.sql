SELECT COUNT(`order`.`order_id`) FROM `order` WHERE `order`.`paid` IS NULL
