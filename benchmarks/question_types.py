"""How well the rules of question types agree with reading: precision and recall of each type.

    python -m benchmarks.question_types

The labels are `figures/judged/question_types.json`, of 150 questions of Mini-Dev drawn at random. They were
made by reading question, evidence and gold with the definitions of the types, and without the rules' answers.
"""

import json
from collections import Counter
from pathlib import Path

import typer

from harness.data.questions import QuestionSet
from harness.data.sets.loader import load_set
from harness.sqltree.constructs import QuestionType

LABELS = Path(__file__).parent / "figures" / "judged" / "question_types.json"


def counts(
    questions: QuestionSet,
) -> tuple[Counter[QuestionType], Counter[QuestionType], Counter[QuestionType]]:
    """How many labelled questions have each type by the rules, by reading, and by both."""
    labels = json.loads(LABELS.read_text(encoding="utf-8"))["types"]
    ruled, read, both = Counter[QuestionType](), Counter[QuestionType](), Counter[QuestionType]()
    for question in questions.questions:
        if question.key in labels:
            labelled = set(map(QuestionType, labels[question.key]))
            ruled.update(map(QuestionType, question.types))
            read.update(labelled)
            both.update(labelled.intersection(question.types))
    return ruled, read, both


def main() -> None:
    """Print a line for each type."""
    ruled, read, both = counts(load_set("mini_dev", questions_alone=True))
    print("| type | by reading | precision % | recall % |\n|---|---|---|---|")
    for each in QuestionType:
        precision, recall = (100 * both[each] / max(1, total[each]) for total in (ruled, read))
        print(f"| `{each}` | {read[each]} | {precision:.1f} | {recall:.1f} |")


if __name__ == "__main__":
    typer.run(main)
