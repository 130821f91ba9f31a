"""Logs runs to trackers of experiments, or copies them to a URL."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="log",
    commands={
        "log": LabCommand(
            "harness.labs.log.cli",
            "Log a run to Weights & Biases or MLflow: scores, tables and report; or copy it to a URL",
            "lab log results/latest --to mlflow",
        ),
    },
)
