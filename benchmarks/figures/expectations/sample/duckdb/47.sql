SELECT AccNo, "Germination Rate (%)" FROM accessions AS T1 WHERE "Germination Rate (%)" > (SELECT AVG("Germination Rate (%)") FROM accessions AS T2 WHERE taxon_id = T1.taxon_id)
