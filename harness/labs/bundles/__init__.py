"""Bundles: a finished run as one file that anyone can execute again, and a board of those that hold."""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="bundles",
    commands={
        "submit": LabCommand(
            "harness.labs.bundles.cli",
            "Pack a finished run into one file that anyone can verify",
            "lab submit results/latest --out mine.bundle.json",
        ),
        "verify": LabCommand(
            "harness.labs.bundles.cli",
            "Execute the predictions of a bundle again; exits 1 if an outcome or a score is another",
            "lab verify mine.bundle.json",
        ),
        "board": LabCommand(
            "harness.labs.bundles.cli",
            "Write a static site of the verified bundles in a folder",
            "lab board bundles/ --out site",
        ),
    },
)
