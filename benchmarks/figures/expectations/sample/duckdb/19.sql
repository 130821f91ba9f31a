SELECT Name FROM Vessels ORDER BY "Speed (kn)" DESC, rowid LIMIT 2 OFFSET 1
