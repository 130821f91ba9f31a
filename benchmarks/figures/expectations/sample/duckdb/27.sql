SELECT CAST(SUM(COALESCE(population, 0)) AS BIGINT) FROM ports WHERE island = 'Holm'
