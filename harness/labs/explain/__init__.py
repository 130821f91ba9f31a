"""Execution plans of gold and prediction side by side, and those that a run folder keeps for its report."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="explain",
    commands={
        "explain": LabCommand(
            "harness.labs.explain.cli",
            "Show the execution plans of gold and prediction side by side",
            "lab explain results/latest --question 3 --dialect sqlite",
        ),
    },
    options={"plans": "harness.labs.explain.cli:keep_plans_of"},
)
