"""Makes synthetic databases for the golds of a set.

The generator is `loaders.twins`, by which the metric `ts` makes its variants, too.
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
)
