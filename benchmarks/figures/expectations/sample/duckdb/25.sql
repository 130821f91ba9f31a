SELECT "ports"."name" FROM "ports" WHERE INSTR("ports"."name", 'Quay') > 0 OR INSTR("ports"."name", '''') > 0
