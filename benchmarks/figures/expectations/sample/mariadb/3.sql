SELECT `branches`.`Opening Hours` FROM `branches` WHERE `branches`.`name` = 'Hillcrest'
