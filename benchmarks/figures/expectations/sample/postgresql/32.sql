SELECT "Vessels"."name" FROM "vessels" AS "Vessels" WHERE "Vessels"."imo" = '9604712'
