SELECT COUNT(order_id) FROM "order" WHERE paid IS NULL
