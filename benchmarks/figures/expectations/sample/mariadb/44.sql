SELECT `accessions`.`AccNo` FROM `accessions` WHERE bird_sqlite.to_integer(RIGHT(`accessions`.`AccNo`, 3)) > 4 AND `accessions`.`alive` = 1
