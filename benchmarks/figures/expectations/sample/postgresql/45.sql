SELECT checker, (ARRAY_AGG(accno ORDER BY plant_checks.height_cm DESC NULLS LAST, plant_checks.ctid))[1], MAX(height_cm) FROM plant_checks WHERE checker IS NOT NULL GROUP BY checker
