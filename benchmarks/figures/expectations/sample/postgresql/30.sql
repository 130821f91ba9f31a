SELECT MIN(T2.name), COUNT(T1.sailing_id) FROM sailings AS T1 JOIN vessels AS T2 ON T1.vessel_id = T2.vessel_id GROUP BY T2.vessel_id HAVING COUNT(T1.sailing_id) > 15
