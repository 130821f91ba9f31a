SELECT departed, passengers - LAG(passengers) OVER (ORDER BY departed) FROM sailings WHERE routeid = 'R2' AND SUBSTR(departed, 1, 7) = '2023-05'
