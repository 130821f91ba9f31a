SELECT "accessions"."accno" FROM "accessions" WHERE bird_sqlite.to_integer(RIGHT("accessions"."accno", 3)) > 4 AND "accessions"."alive" = 1
