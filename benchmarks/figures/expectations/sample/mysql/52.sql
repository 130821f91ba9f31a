SELECT name FROM observers WHERE LOCATE('fr', languages) > 0
