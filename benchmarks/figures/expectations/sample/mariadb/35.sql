SELECT `taxa`.`common_name` FROM `taxa` WHERE `taxa`.`name` = 'Sorbus aucuparia'
