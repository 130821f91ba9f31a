SELECT MIN(T2.name), bird_sqlite.round_to(AVG(T1.t_max - T1.t_min), 1) FROM readings AS T1 JOIN stations AS T2 ON T1.code = T2.code GROUP BY T2.code
