"""Why predictors score otherwise on another engine: explained by executions, one question at a time."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="gap",
    commands={
        "gap": LabCommand(
            "harness.labs.gap.cli",
            "Explain why scores differ between SQLite and the other engines",
            "lab gap --set sample --dialect all",
        ),
    },
)
