SELECT MAX((CAST(bird_sqlite.format_moment('%s', bird_sqlite.moment(lifted)) AS SIGNED) - CAST(bird_sqlite.format_moment('%s', bird_sqlite.moment(issued)) AS SIGNED)) DIV 60) FROM `storm alerts`
