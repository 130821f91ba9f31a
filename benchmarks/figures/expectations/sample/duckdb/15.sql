SELECT COUNT(patron_id) FROM Patrons WHERE email IS NULL OR email = ''
