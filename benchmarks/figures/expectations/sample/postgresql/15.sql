SELECT COUNT(patron_id) FROM patrons WHERE email IS NULL OR email = ''
