SELECT COUNT(*) FROM `books` WHERE SUBSTRING(`books`.`published`, 1, 3) = '199'
