"""Asks predictors for SQL, keeps every answer, and writes prediction files.

`harness.predictors` has prompts and schemas, which adapters of other frameworks use, too.
"""

from harness.lab import Lab, LabCommand

LAB = Lab(
    name="predict",
    commands={
        "predict": LabCommand(
            "harness.labs.predict.cli",
            "Ask a model for SQL and write prediction files; with --eval, score them",
            "lab predict openai:gpt-4o-mini --set mini_dev --limit 20 --eval",
        ),
    },
)
