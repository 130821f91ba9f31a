SELECT name FROM taxa WHERE level = 'species' AND taxon_id NOT IN (SELECT taxon_id FROM accessions)
