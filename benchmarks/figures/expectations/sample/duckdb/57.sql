SELECT day, total FROM (SELECT day AS day, SUM(rain_mm) OVER (ORDER BY day) AS total FROM readings WHERE code = 'REF' AND day >= '2023-06-01') AS _q1 WHERE total > 50 ORDER BY day LIMIT 1
