SELECT COUNT(*) FROM readings WHERE wind IS NULL OR wind = ''
