-- question: 1209
-- gold-sha256: 303f3e702ec3893341f101e9740d1cfbe231560cd572c06a1742d17f8c361f8f
-- reason: unspecified
-- note: SQLite sorts each distinct diagnosis by the birthday of the first row that it scans, which MySQL leaves open

SELECT `Diagnosis`
FROM (
    SELECT `t1`.`Diagnosis`, `t1`.`Birthday`, `t2`.`sqlite_rowid` AS `place`,
        ROW_NUMBER() OVER (PARTITION BY `t1`.`Diagnosis` ORDER BY `t2`.`sqlite_rowid`) AS `number`
    FROM `patient` AS `t1` JOIN `laboratory` AS `t2` ON `t1`.`ID` = `t2`.`ID`
    WHERE `t2`.`GPT` > 60
) AS `firsts`
WHERE `number` = 1
ORDER BY `Birthday`, `place`
