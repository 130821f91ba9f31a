SELECT `books`.`Title`, `books`.`Pages` DIV 25 FROM `books` WHERE `books`.`Language` = 'English' AND `books`.`group` = 'Teen'
