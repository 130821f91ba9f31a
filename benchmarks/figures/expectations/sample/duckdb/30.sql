SELECT MIN(T2.Name), COUNT(T1.sailing_id) FROM sailings AS T1 JOIN Vessels AS T2 ON T1.vessel_id = T2.vessel_id GROUP BY T2.vessel_id HAVING COUNT(T1.sailing_id) > 15
