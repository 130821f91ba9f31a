SELECT checker, (ARRAY_AGG(AccNo ORDER BY plant_checks.height_cm DESC, plant_checks.rowid))[1], MAX(height_cm) FROM plant_checks WHERE checker IS NOT NULL GROUP BY checker
