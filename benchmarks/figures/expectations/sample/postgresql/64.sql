SELECT T1.name FROM stations AS T1 JOIN stations AS T2 ON LOWER(T1.massif) = LOWER(T2.massif) AND T1.code <> T2.code WHERE T2.name = 'Val-d’en-Bas'
