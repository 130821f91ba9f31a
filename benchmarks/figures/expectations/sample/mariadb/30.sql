SELECT MIN(t2.Name), COUNT(t1.sailing_id) FROM sailings AS t1 JOIN vessels AS t2 ON t1.vessel_id = t2.vessel_id GROUP BY t2.vessel_id HAVING COUNT(t1.sailing_id) > 15
