SELECT accno FROM accessions WHERE bird_sqlite.to_integer(RIGHT(accno, 3)) > 4 AND alive = 1
