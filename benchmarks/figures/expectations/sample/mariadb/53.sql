SELECT MIN(t2.name), bird_sqlite.round_to(AVG(t1.t_max - t1.t_min), 1) FROM readings AS t1 JOIN stations AS t2 ON t1.code = t2.code GROUP BY t2.code
