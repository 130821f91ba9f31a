SELECT `order`.`order_id` FROM `order` WHERE `order`.`note` LIKE '%🌱%' ESCAPE '|'
