SELECT `taxa`.`name` FROM `taxa` WHERE `taxa`.`level` = 'species' AND `taxa`.`taxon_id` NOT IN (SELECT `accessions`.`taxon_id` FROM `accessions`)
