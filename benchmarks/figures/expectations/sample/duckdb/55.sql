SELECT "T1"."name" FROM "stations" AS "T1" WHERE EXISTS(SELECT 1 FROM "Storm Alerts" AS "T2" WHERE "T2"."code" = "T1"."code" AND "T2"."lifted" IS NULL)
