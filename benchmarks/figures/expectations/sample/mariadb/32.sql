SELECT `vessels`.`Name` FROM `vessels` WHERE `vessels`.`imo` = '9604712'
