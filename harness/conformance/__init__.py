"""What becomes of anybody's SQLite queries on the servers: suites in, one verdict a query and engine out.

`checking` is the measurement, which the fuzzer (tests/fuzz) uses, too.
"""
