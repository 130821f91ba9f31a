SELECT name FROM observers WHERE CAST(STRPOS(languages, 'fr') AS BIGINT) > 0
