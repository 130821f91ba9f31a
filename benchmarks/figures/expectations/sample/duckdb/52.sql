SELECT "observers"."name" FROM "observers" WHERE INSTR("observers"."languages", 'fr') > 0
