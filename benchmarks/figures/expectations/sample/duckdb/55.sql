SELECT name FROM stations AS T1 WHERE EXISTS(SELECT 1 FROM "Storm Alerts" AS T2 WHERE code = T1.code AND lifted IS NULL)
