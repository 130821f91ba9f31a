SELECT `ports`.`name` FROM `ports` WHERE LOCATE('Quay', `ports`.`name`) > 0 OR LOCATE('''', `ports`.`name`) > 0
