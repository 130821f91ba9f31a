SELECT Name FROM vessels ORDER BY `Speed (kn)` DESC, vessel_id LIMIT 2 OFFSET 1
