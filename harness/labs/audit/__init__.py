"""Looks for golds that are wrong or unclear, without knowing any right answer.

`probes.PROBES` has one row for each kind of fault. A probe reads one gold on the engine that it is for, runs
small queries there, and returns findings with evidence. `page.js` is of the page on which a person decides.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="audit",
    commands={
        "audit": LabCommand(
            "harness.labs.audit.cli",
            "Audit gold SQL for likely errors; writes the evidence and a page to review it",
            "lab audit --set sample --dialect sqlite",
        ),
    },
)
