SELECT name, CASE WHEN COALESCE(phone, '') = '' THEN 'unknown' ELSE phone END FROM suppliers
