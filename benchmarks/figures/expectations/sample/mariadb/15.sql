SELECT COUNT(`patrons`.`patron_id`) FROM `patrons` WHERE `patrons`.`email` IS NULL OR `patrons`.`email` = ''
