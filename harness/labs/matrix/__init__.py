"""Coverage on every version of an engine that is installed or has an image here, as CI runs it."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="matrix",
    commands={
        "matrix": LabCommand(
            "harness.labs.matrix.cli",
            "Run `coverage` on engine versions installed or with Docker images here; exits 1 on a regression",
            "lab matrix --dialect all",
        ),
    },
)
