SELECT `books`.`Title`, `books`.`isbn` FROM `books` WHERE `books`.`Shelf Mark` = '7'
