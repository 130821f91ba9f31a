SELECT COUNT(`plant_checks`.`check_id`) FROM `plant_checks` WHERE SUBSTRING(CONCAT(`plant_checks`.`checked`, ' 00:00:00'), 12, 2) < '10'
