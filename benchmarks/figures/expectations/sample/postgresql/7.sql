SELECT T1.patron_id, T2.patron_id FROM patrons AS T1 JOIN patrons AS T2 ON T1.referred_by = T2.patron_id WHERE LOWER(T1.card_type) = LOWER(T2.card_type)
