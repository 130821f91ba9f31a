"""Right by chance: small databases on which an answer that EX calls right has other rows than gold.

The search itself (`harness.scoring.chance`) belongs to the core, because the metric `ex_tested` needs it.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="chance",
    commands={
        "chance": LabCommand(
            "harness.labs.chance.cli",
            "Search small databases that refute right answers of a run",
            "lab chance results/latest",
        ),
        "replay": LabCommand(
            "harness.labs.chance.cli",
            "Execute the texts of a witness again; exits 1 if it does not refute the answer",
            "lab replay witness.json",
        ),
    },
)
