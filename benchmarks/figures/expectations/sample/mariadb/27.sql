SELECT SUM(COALESCE(population, 0)) FROM ports WHERE island = 'Holm'
