SELECT T1.name, COALESCE(CAST(SUM(T2.total_cents) AS BIGINT), 0) // 100 AS amount FROM suppliers AS T1 LEFT JOIN "order" AS T2 ON T1.supplier_id = T2.supplier_id GROUP BY T1.name ORDER BY amount DESC
