SELECT name, elevation_m FROM stations ORDER BY elevation_m DESC NULLS LAST, ctid LIMIT 1 OFFSET 1
