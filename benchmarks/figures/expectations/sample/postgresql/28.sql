SELECT AVG(CASE WHEN "Discount Rate (%)" = 0 THEN NULL ELSE "Discount Rate (%)" END) FROM fares
