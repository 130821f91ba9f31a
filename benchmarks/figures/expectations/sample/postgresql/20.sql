SELECT CAST(SUM(CAST(LOWER(status) = 'on time' AS INTEGER)) AS DOUBLE PRECISION) / NULLIF(COUNT(sailing_id), 0) FROM sailings WHERE routeid = 'R1'
