SELECT name FROM ports WHERE LOCATE('Quay', name) > 0 OR LOCATE('''', name) > 0
