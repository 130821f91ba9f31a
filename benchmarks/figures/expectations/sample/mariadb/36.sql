SELECT `beds`.`name` FROM `beds` WHERE `beds`.`exposure` = 'full sun' AND `beds`.`Area (m2)` > 1000
