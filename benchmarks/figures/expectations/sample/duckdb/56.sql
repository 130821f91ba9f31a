SELECT MAX((CAST(bird_sqlite_format_moment('%s', bird_sqlite_moment(lifted)) AS BIGINT) - CAST(bird_sqlite_format_moment('%s', bird_sqlite_moment(issued)) AS BIGINT)) // 60) FROM "Storm Alerts"
