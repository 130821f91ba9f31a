SELECT "Vessels"."Name" FROM "Vessels" WHERE "Vessels"."imo" = '9604712'
