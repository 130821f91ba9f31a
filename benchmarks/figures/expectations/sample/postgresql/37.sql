SELECT bird_sqlite.round_to(AVG(T1."Germination Rate (%)"), 2) FROM accessions AS T1 JOIN suppliers AS T2 ON T1.supplier_id = T2.supplier_id WHERE LOWER(T2.country) = 'united kingdom'
