SELECT `observers`.`name` FROM `observers` WHERE LOCATE('fr', `observers`.`languages`) > 0
