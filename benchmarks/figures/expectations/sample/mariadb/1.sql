SELECT COUNT(`books`.`BookID`) FROM `books` WHERE `books`.`Language` = 'French'
