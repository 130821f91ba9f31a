SELECT COUNT(BookID) FROM Books WHERE Language = 'French'	city_library
SELECT CAST(SUM(CASE WHEN "group" = 'Adult' THEN 1 ELSE 0 END) AS DOUBLE PRECISION) * 100 / COUNT(BookID) FROM Books WHERE Price >= 20	city_library
SELECT "Opening Hours" FROM branches WHERE name = 'Hillcrest'	city_library
WITH RECURSIVE chain(patron_id, steps) AS (SELECT patron_id, 0 FROM Patrons WHERE first_name = 'Ingrid' AND last_name = 'Sørensen' UNION ALL SELECT T1.patron_id, T2.steps + 1 FROM Patrons AS T1 INNER JOIN chain AS T2 ON T1.referred_by = T2.patron_id) SELECT COUNT(*), MAX(steps) FROM chain WHERE steps > 0	city_library
SELECT Title FROM Books WHERE Title ILIKE 'the %'	city_library
SELECT T1.first_name || ' ' || T1.last_name FROM Patrons AS T1 LEFT JOIN loans AS T2 ON T1.patron_id = T2.patron_id WHERE T2.loan_id IS NULL	city_library
SELECT T1.patron_id, T2.patron_id FROM Patrons AS T1 INNER JOIN Patrons AS T2 ON T1.referred_by = T2.patron_id WHERE LOWER(T1.card_type) = LOWER(T2.card_type)	city_library
SELECT COUNT(*) FROM Books WHERE SUBSTR(published, 1, 3) = '199'	city_library
SELECT STRFTIME(loan_date, '%m') FROM loans WHERE STRFTIME(loan_date, '%Y') = '2022' GROUP BY STRFTIME(loan_date, '%m') ORDER BY COUNT(loan_id) DESC LIMIT 1	city_library
SELECT T2.name, AVG(T1.return_date - T1.loan_date) FROM loans AS T1 INNER JOIN branches AS T2 ON T1.branch_id = T2.branch_id WHERE T1.return_date IS NOT NULL GROUP BY T2.branch_id, T2.name	city_library
SELECT COUNT(DISTINCT patron_id) FROM loans WHERE fine > 0	city_library
SELECT Title, Pages // 25 FROM Books WHERE Language = 'English' AND "group" = 'Teen'	city_library
WITH ranked AS (SELECT Language, Title, Pages, RANK() OVER (PARTITION BY Language ORDER BY Pages DESC NULLS LAST) AS place FROM Books WHERE Language IS NOT NULL) SELECT Language, Title, Pages FROM ranked WHERE place = 1	city_library
SELECT DISTINCT ON ("group") "group", Title, Price FROM Books WHERE "group" IS NOT NULL ORDER BY "group", Price DESC NULLS LAST	city_library
SELECT COUNT(patron_id) FROM Patrons WHERE email IS NULL OR email = ''	city_library
SELECT T1.Title, STRING_AGG(T3.FullName, ' & ' ORDER BY T3.FullName) FROM Books AS T1 INNER JOIN book_authors AS T2 ON T1.BookID = T2.BookID INNER JOIN Authors AS T3 ON T2.AuthorID = T3.AuthorID WHERE T1.Title IN ('Songs of the Old Bridge', 'Little Kites, Big Sky') GROUP BY T1.Title	city_library
SELECT Title, isbn FROM Books WHERE "Shelf Mark" = '7'	city_library
SELECT COUNT(*), SUM(CASE WHEN patron_id IN (SELECT patron_id FROM loans WHERE fine > 1) THEN 1 ELSE 0 END) FROM Patrons WHERE EXTRACT(YEAR FROM joined) >= 2019 AND patron_id NOT IN (SELECT referred_by FROM Patrons WHERE referred_by IS NOT NULL)	city_library
SELECT Name FROM Vessels ORDER BY "Speed (kn)" DESC NULLS LAST LIMIT 2 OFFSET 1	island_ferries
SELECT CAST(SUM(CASE WHEN LOWER(status) = 'on time' THEN 1 ELSE 0 END) AS DOUBLE PRECISION) / COUNT(sailing_id) FROM sailings WHERE RouteID = 'R1'	island_ferries
SELECT COUNT(sailing_id) FROM sailings WHERE status = 'On Time'	island_ferries
SELECT STRING_AGG(T2.name, ' - ' ORDER BY T1."order") FROM routeStops AS T1 INNER JOIN ports AS T2 ON T1.port_id = T2.port_id WHERE T1.RouteID = 'R6'	island_ferries
SELECT name FROM ports ORDER BY population ASC NULLS FIRST LIMIT 2	island_ferries
SELECT departed, passengers - LAG(passengers) OVER (ORDER BY departed) FROM sailings WHERE RouteID = 'R2' AND STRFTIME(departed, '%Y-%m') = '2023-05'	island_ferries
SELECT name FROM ports WHERE STRPOS(name, 'Quay') > 0 OR STRPOS(name, '''') > 0	island_ferries
SELECT LOWER(T2.class), AVG(CAST(T1.passengers AS DOUBLE PRECISION) * 100 / NULLIF(T2.capacity, 0)) FROM sailings AS T1 INNER JOIN Vessels AS T2 ON T1.vessel_id = T2.vessel_id WHERE COALESCE(T1.status, '') <> 'cancelled' GROUP BY LOWER(T2.class)	island_ferries
SELECT SUM(COALESCE(population, 0)) FROM ports WHERE island = 'Holm'	island_ferries
SELECT AVG(NULLIF("Discount Rate (%)", 0)) FROM fares	island_ferries
SELECT T2.name FROM routeStops AS T1 INNER JOIN ports AS T2 ON T1.port_id = T2.port_id WHERE T1.RouteID = 'R6' EXCEPT SELECT T2.name FROM routeStops AS T1 INNER JOIN ports AS T2 ON T1.port_id = T2.port_id INNER JOIN routes AS T3 ON T1.RouteID = T3.RouteID WHERE T3.seasonal = 1	island_ferries
SELECT T2.Name, COUNT(T1.sailing_id) FROM sailings AS T1 INNER JOIN Vessels AS T2 ON T1.vessel_id = T2.vessel_id GROUP BY T2.vessel_id, T2.Name HAVING COUNT(T1.sailing_id) > 15	island_ferries
WITH RECURSIVE team AS (SELECT crew_id, full_name, 0 AS depth FROM crew WHERE full_name = 'Morag MacAskill' UNION ALL SELECT T1.crew_id, T1.full_name, T2.depth + 1 FROM crew AS T1 INNER JOIN team AS T2 ON T1.boss_id = T2.crew_id) SELECT full_name, depth FROM team WHERE depth > 0	island_ferries
SELECT Name FROM Vessels WHERE imo = '9604712'	island_ferries
SELECT CASE WHEN salary < 30000 THEN 'low' WHEN salary <= 40000 THEN 'middle' ELSE 'high' END AS band, COUNT(crew_id) FROM crew WHERE boss_id NOT IN (SELECT crew_id FROM crew WHERE rank = 'Master') GROUP BY band	island_ferries
SELECT T1.Name FROM Vessels AS T1 WHERE EXISTS (SELECT 1 FROM sailings AS T2 WHERE T2.vessel_id = T1.vessel_id AND T2.passengers * 100 / T1.capacity > 90) AND NOT EXISTS (SELECT 1 FROM sailings AS T3 WHERE T3.vessel_id = T1.vessel_id AND T3.status = 'cancelled')	island_ferries
SELECT common_name FROM taxa WHERE name = 'Sorbus aucuparia'	botanic_garden
SELECT name FROM beds WHERE exposure = 'full sun' AND "Area (m2)" > 1000	botanic_garden
SELECT ROUND(CAST(AVG(T1."Germination Rate (%)") AS NUMERIC), 2) FROM accessions AS T1 INNER JOIN suppliers AS T2 ON T1.supplier_id = T2.supplier_id WHERE LOWER(T2.country) = 'united kingdom'	botanic_garden
WITH RECURSIVE branch(taxon_id) AS (SELECT taxon_id FROM taxa WHERE name = 'Rosaceae' UNION SELECT T1.taxon_id FROM taxa AS T1 INNER JOIN branch AS T2 ON T1.parent_id = T2.taxon_id) SELECT COUNT(*), SUM(CASE WHEN alive = 1 THEN 1 ELSE 0 END) FROM accessions WHERE taxon_id IN (SELECT taxon_id FROM branch)	botanic_garden
SELECT T2.name FROM accessions AS T1 INNER JOIN taxa AS T2 ON T1.taxon_id = T2.taxon_id INNER JOIN suppliers AS T3 ON T1.supplier_id = T3.supplier_id WHERE T3.name = 'Seed & Stone Ltd' INTERSECT SELECT T2.name FROM accessions AS T1 INNER JOIN taxa AS T2 ON T1.taxon_id = T2.taxon_id INNER JOIN suppliers AS T3 ON T1.supplier_id = T3.supplier_id WHERE T3.name = 'Kew-side Exchange'	botanic_garden
SELECT COUNT(order_id) FROM "order" WHERE paid IS NULL	botanic_garden
SELECT T2.name FROM "order" AS T1 INNER JOIN suppliers AS T2 ON T1.supplier_id = T2.supplier_id WHERE T1.paid - T1.ordered > 30 GROUP BY T2.supplier_id, T2.name HAVING COUNT(T1.order_id) > 1	botanic_garden
SELECT T1.name, COALESCE(SUM(T2.total_cents), 0) // 100 AS amount FROM suppliers AS T1 LEFT JOIN "order" AS T2 ON T1.supplier_id = T2.supplier_id GROUP BY T1.name ORDER BY amount DESC	botanic_garden
SELECT name, CASE WHEN COALESCE(phone, '') = '' THEN 'unknown' ELSE phone END FROM suppliers	botanic_garden
SELECT AccNo FROM accessions WHERE CAST(RIGHT(AccNo, 3) AS INTEGER) > 4 AND alive = 1	botanic_garden
SELECT DISTINCT ON (checker) checker, AccNo, height_cm FROM plant_checks WHERE checker IS NOT NULL ORDER BY checker, height_cm DESC NULLS LAST	botanic_garden
SELECT COUNT(check_id) FROM plant_checks WHERE EXTRACT(HOUR FROM checked) < 10	botanic_garden
SELECT T1.AccNo, T1."Germination Rate (%)" FROM accessions AS T1 WHERE T1."Germination Rate (%)" > (SELECT AVG(T2."Germination Rate (%)") FROM accessions AS T2 WHERE T2.taxon_id = T1.taxon_id)	botanic_garden
SELECT order_id FROM "order" WHERE note LIKE '%🌱%'	botanic_garden
SELECT name FROM taxa WHERE level = 'species' AND taxon_id NOT IN (SELECT taxon_id FROM accessions)	botanic_garden
WITH RECURSIVE line AS (SELECT parent_id, name AS path FROM taxa WHERE common_name = 'white beach rose' UNION ALL SELECT T1.parent_id, T1.name || ' > ' || T2.path FROM taxa AS T1 INNER JOIN line AS T2 ON T1.taxon_id = T2.parent_id) SELECT path FROM line WHERE parent_id IS NULL	botanic_garden
SELECT name, elevation_m FROM stations ORDER BY elevation_m DESC NULLS LAST LIMIT 1 OFFSET 1	mountain_weather
SELECT name FROM observers WHERE STRPOS(languages, 'fr') > 0	mountain_weather
SELECT T2.name, ROUND(CAST(AVG(T1.t_max - T1.t_min) AS NUMERIC), 1) FROM readings AS T1 INNER JOIN stations AS T2 ON T1.code = T2.code GROUP BY T2.code, T2.name	mountain_weather
WITH rainy AS (SELECT day, CAST(day AS DATE) - CAST(ROW_NUMBER() OVER (ORDER BY day) AS INTEGER) AS run FROM readings WHERE code = 'LAC' AND rain_mm > 0) SELECT MAX(days) FROM (SELECT COUNT(*) AS days FROM rainy GROUP BY run) AS T	mountain_weather
SELECT T1.name FROM stations AS T1 WHERE EXISTS (SELECT 1 FROM "Storm Alerts" AS T2 WHERE T2.code = T1.code AND T2.lifted IS NULL)	mountain_weather
SELECT MAX(EXTRACT(EPOCH FROM lifted - issued) / 60) FROM "Storm Alerts"	mountain_weather
SELECT day, total FROM (SELECT day, SUM(rain_mm) OVER (ORDER BY day) AS total FROM readings WHERE code = 'REF' AND day >= '2023-06-01') AS T WHERE total > 50 ORDER BY day LIMIT 1	mountain_weather
SELECT CAST(TO_TIMESTAMP(strike_ms / 1000) AT TIME ZONE 'UTC' AS DATE) AS strike_day, COUNT(strike_id) FROM lightning GROUP BY strike_day	mountain_weather
SELECT COUNT(*) FROM readings WHERE wind IS NULL OR wind = ''	mountain_weather
SELECT current_ka, strike_ms FROM lightning ORDER BY current_ka DESC NULLS LAST LIMIT 1 OFFSET 1	mountain_weather
SELECT STRFTIME(T1.day, '%Y-%m-%d') FROM GENERATE_SERIES(DATE '2023-06-01', DATE '2023-06-30', INTERVAL '1 day') AS T1(day) EXCEPT SELECT day FROM readings WHERE code = 'AIG'	mountain_weather
SELECT STRFTIME(issued, '%Y-%m-%d') FROM "Storm Alerts" WHERE severity = 'red' UNION SELECT day FROM readings WHERE rain_mm > 25	mountain_weather
SELECT T2.massif, SUM(CASE WHEN LOWER(T1.severity) = 'yellow' THEN 1 ELSE 0 END), SUM(CASE WHEN LOWER(T1.severity) = 'orange' THEN 1 ELSE 0 END), SUM(CASE WHEN LOWER(T1.severity) = 'red' THEN 1 ELSE 0 END) FROM "Storm Alerts" AS T1 INNER JOIN stations AS T2 ON T1.code = T2.code GROUP BY T2.massif	mountain_weather
SELECT T1.name FROM stations AS T1 INNER JOIN stations AS T2 ON LOWER(T1.massif) = LOWER(T2.massif) AND T1.code <> T2.code WHERE T2.name = 'Val-d’en-Bas'	mountain_weather
SELECT T2.name FROM lightning AS T1 INNER JOIN stations AS T2 ON T1.code = T2.code WHERE T1.polarity = '+' INTERSECT SELECT T2.name FROM lightning AS T1 INNER JOIN stations AS T2 ON T1.code = T2.code WHERE T1.polarity = '-'	mountain_weather
SELECT COUNT(DISTINCT observer_id) FROM readings WHERE day LIKE '2023-07%'	mountain_weather
