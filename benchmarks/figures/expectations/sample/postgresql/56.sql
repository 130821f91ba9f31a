SELECT MAX((CAST(bird_sqlite.format_moment('%s', bird_sqlite.moment(lifted)) AS BIGINT) - CAST(bird_sqlite.format_moment('%s', bird_sqlite.moment(issued)) AS BIGINT)) / 60) FROM "Storm Alerts"
