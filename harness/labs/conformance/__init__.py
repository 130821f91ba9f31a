"""Conformance of SQLite queries on servers: suites in, one verdict for each query and engine out.

`comparison` is the measurement, which the fuzzer (tests/fuzz) uses, too. `folders` and `sqllogictest` read
suites, `states` makes the databases that their queries are for, `command` runs what is left, `tables`
counts and shows.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="conformance",
    commands={
        "conformance": LabCommand(
            "harness.labs.conformance.cli",
            "Run queries on SQLite and, translated, on servers; exits 1 if results differ without a warning",
            "lab conformance suites/shop --dialect all",
        ),
    },
)
