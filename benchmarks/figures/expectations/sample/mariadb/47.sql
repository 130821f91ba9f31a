SELECT AccNo, `Germination Rate (%)` FROM accessions AS t1 WHERE `Germination Rate (%)` > (SELECT AVG(`Germination Rate (%)`) FROM accessions AS t2 WHERE taxon_id = t1.taxon_id)
