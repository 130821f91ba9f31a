SELECT t1.name, COALESCE(SUM(t2.total_cents), 0) DIV 100 AS amount FROM suppliers AS t1 LEFT JOIN `order` AS t2 ON t1.supplier_id = t2.supplier_id GROUP BY t1.name ORDER BY amount DESC
