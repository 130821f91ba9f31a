"""Tasks of the BIRD family, which may change data: Mini-Dev V2, LiveSQLBench, BIRD-CRITIC, BIRD-Interact.

`families` says what the official scripts of each do, and `layouts` reads files. `engine` says what is needed
of an engine, which `sqlite` and `postgresql` have. `judging` runs all of it in processes; `official` and
`strict` are verdicts on rows and tests. `outcomes` writes runs, and `sample` has tasks of the project's own.
"""

from harness.lab import Lab, LabCommand
from harness.metrics import Basis, Metric

OFFICIAL = Metric("official", "Official", Basis.VERDICT, is_share=True)
STRICT = Metric("strict", "Strict", Basis.VERDICT, is_share=True)
STATE = Metric("state", "State", Basis.VERDICT, is_share=True)
VERDICTS = (OFFICIAL.name, STRICT.name, STATE.name)
"""The verdicts on an answer, as the metrics of a run: see docs/explanation/tasks.md."""

LAB = Lab(
    name="tasks",
    commands={
        "tasks": LabCommand(
            "harness.labs.tasks.cli",
            "Judge answers to tasks that may change data: the official verdict, a strict one, and the state",
            "lab tasks livesqlbench_data_sqlite.jsonl --databases database --answers answers.jsonl",
        ),
    },
    metrics={each.name: f"{__name__}:{each.name.upper()}" for each in (OFFICIAL, STRICT, STATE)},
    sections=["harness.labs.tasks.outcomes:run_tables"],
    sets={"sample_tasks": "harness.labs.tasks.evaluation:evaluate_sample"},
    evaluators={"sample_tasks": "harness.labs.tasks.evaluator:sample_evaluator"},
    options={"family": "harness.labs.tasks.evaluator:file_evaluator"},
    prompts="harness.labs.tasks.prompts:prompts_of_set",
    answers="harness.labs.tasks.again:answers_in",
    again="harness.labs.tasks.again:judged_again",
    facts=("families", "phase"),
)
