SELECT name FROM observers WHERE INSTR(languages, 'fr') > 0
