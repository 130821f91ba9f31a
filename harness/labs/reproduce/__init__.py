"""Scores published predictions and compares the scores with the published ones."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="reproduce",
    commands={
        "reproduce": LabCommand(
            "harness.labs.reproduce.cli",
            "Score published predictions and compare the scores with the published ones",
            "lab reproduce --set mini_dev --dialect all",
        ),
    },
    reports=("harness.labs.reproduce.tables:write_again",),
)
