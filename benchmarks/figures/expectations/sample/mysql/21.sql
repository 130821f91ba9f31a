SELECT COUNT(sailing_id) FROM sailings WHERE status = 'On Time'
