SELECT name FROM ports WHERE INSTR(name, 'Quay') > 0 OR INSTR(name, '''') > 0
