SELECT SUM(COALESCE(`ports`.`population`, 0)) FROM `ports` WHERE `ports`.`island` = 'Holm'
