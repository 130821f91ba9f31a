SELECT SUBSTRING(issued, 1, 10) AS _c1 FROM "Storm Alerts" WHERE severity = 'red' UNION SELECT day FROM readings WHERE rain_mm > 25
