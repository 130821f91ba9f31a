SELECT AVG(CASE WHEN `fares`.`Discount Rate (%)` = 0 THEN NULL ELSE `fares`.`Discount Rate (%)` END) FROM `fares`
