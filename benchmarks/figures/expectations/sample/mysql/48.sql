SELECT order_id FROM `order` WHERE note LIKE '%🌱%'
