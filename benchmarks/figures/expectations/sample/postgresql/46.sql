SELECT COUNT("plant_checks"."check_id") FROM "plant_checks" WHERE SUBSTR("plant_checks"."checked" || ' 00:00:00', 12, 2) < '10'
