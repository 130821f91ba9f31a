SELECT COUNT(`sailings`.`sailing_id`) FROM `sailings` WHERE `sailings`.`status` = 'On Time'
