"""Tasks of the BIRD family, which may change data: Mini-Dev V2, LiveSQLBench, BIRD-CRITIC, BIRD-Interact.

`families` says what the official scripts of each do, and `layouts` reads files. `engine` says what is needed
of an engine, which `sqlite` and `postgresql` have. `judging` runs all of it in processes; `official` and
`strict` are verdicts on rows and tests. `sample` has tasks of the project's own.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="tasks",
    commands={
        "tasks": LabCommand(
            "harness.labs.tasks.cli",
            "Judge answers to tasks that may change data: the official verdict, a strict one, and the state",
            "lab tasks livesqlbench_data_sqlite.jsonl --databases database --answers answers.jsonl",
        ),
    },
    sets={"sample_tasks": "harness.labs.tasks.evaluation:evaluate_sample"},
)
