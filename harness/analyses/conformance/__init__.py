"""Conformance of SQLite queries on servers: suites in, one verdict for each query and engine out.

`checking` is the measurement, which the fuzzer (tests/fuzz) uses, too. `folders` and `sqllogictest` read
suites, `states` makes the databases that their queries are for, `command` runs what is left, `rendering`
counts and shows.
"""
