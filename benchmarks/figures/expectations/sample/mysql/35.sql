SELECT common_name FROM taxa WHERE name = 'Sorbus aucuparia'
