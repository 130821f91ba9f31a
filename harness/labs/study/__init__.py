"""The study of efficiency: analyses that measure on engines, and a folder with tables and charts of them.

`parts` has them, one module each; `command` runs them and writes the folder with its page. `measures` has
what they measure, `copies` are databases whose keys and indexes change, `advice` chooses indexes, `rewriting`
writes queries otherwise with the same rows.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="study",
    commands={
        "study": LabCommand(
            "harness.labs.study.cli",
            "Measure efficiency: rewrites, indexes, plans and counted work",
            "lab study --part e1 --dialect sqlite",
        ),
    },
)
