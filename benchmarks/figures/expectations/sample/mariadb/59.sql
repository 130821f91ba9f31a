SELECT COUNT(*) FROM `readings` WHERE `readings`.`wind` IS NULL OR `readings`.`wind` = ''
