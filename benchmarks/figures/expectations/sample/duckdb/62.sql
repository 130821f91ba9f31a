SELECT SUBSTRING("Storm Alerts"."issued", 1, 10) AS "_c1" FROM "Storm Alerts" WHERE "Storm Alerts"."severity" = 'red' UNION SELECT "readings"."day" FROM "readings" WHERE "readings"."rain_mm" > 25
