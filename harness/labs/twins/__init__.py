"""Makes synthetic databases: real tables, generated rows, an answer to every gold.

For users without access to the real data, and for variants of test-suite accuracy. `builder.make` is the
entry point, `twin` makes one: random rows, then rows that answer each gold. What rows a query needs is found
by `harness.scoring.chance`, which refutes answers by the same means.

Promises: the same inputs, scale, seed and version give the same bytes, whatever the number of processes; a
database is written completely or not at all; declared keys and references hold.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="twins",
    commands={
        "twins": LabCommand(
            "harness.labs.twins.cli",
            "Generate synthetic databases with the same schema and other rows",
            "lab twins --set sample --out results/twins",
        ),
    },
    options={"variants": "harness.labs.twins.variants:generate"},
)
