SELECT name FROM beds WHERE exposure = 'full sun' AND "Area (m2)" > 1000
