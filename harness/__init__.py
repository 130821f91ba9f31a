"""Scoring: benchmark files to outcomes to metrics to reports, on SQLite, MySQL and PostgreSQL.

As a library:

    from harness.plan import Request, prepare
    from harness.drivers import score

    for row in score(prepare(Request(set_name="sample"), say=print)):
        print(row.predictor, row.dialect, row.metrics["ex"]["total"])
"""
