SELECT name FROM vessels ORDER BY "Speed (kn)" DESC, ctid LIMIT 2 OFFSET 1
