SELECT `stations`.`name`, `stations`.`elevation_m` FROM `stations` ORDER BY `stations`.`elevation_m` DESC, `stations`.`sqlite_rowid` LIMIT 1 OFFSET 1
