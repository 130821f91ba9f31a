SELECT `suppliers`.`name`, CASE WHEN COALESCE(`suppliers`.`phone`, '') = '' THEN 'unknown' ELSE `suppliers`.`phone` END FROM `suppliers`
