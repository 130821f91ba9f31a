SELECT name, elevation_m FROM stations ORDER BY elevation_m DESC, rowid LIMIT 1 OFFSET 1
