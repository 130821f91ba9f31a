SELECT departed, passengers - COALESCE(LAG(passengers) OVER (ORDER BY departed), NULL) FROM sailings WHERE RouteID = 'R2' AND SUBSTRING(departed, 1, 7) = '2023-05'
