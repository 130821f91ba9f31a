SELECT AccNo FROM accessions WHERE bird_sqlite.to_integer(RIGHT(AccNo, 3)) > 4 AND alive = 1
