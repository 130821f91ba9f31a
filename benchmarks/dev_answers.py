"""Write what takes the place of BIRD dev where its questions are not at hand, and its published answers.

    python -m benchmarks.dev_answers KIT results/dev-answers

KIT has dev's golds (`dev.sql`) and the published prediction files (`predict_dev_*.json`); Mini-Dev is below
BIRD_HOME. The folder gets `dev.json` with the golds, and without questions, evidence and difficulties, beside
links to Mini-Dev and its databases, so it can be BIRD_HOME for both sets. Mini-Dev's questions are some of
dev's: `mini_dev` has the answers to these.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from harness.data.sets.loader import load_set
from loaders.base.files import as_json, read_text

UNKNOWN = {"question": "?", "evidence": "", "difficulty": "simple"}
SEPARATOR = "\t----- bird -----\t"
"""Between SQL and database in the official format."""


def main(
    kit: Annotated[Path, typer.Argument(help="Folder with dev.sql and predict_dev_*.json.")],
    to: Annotated[Path, typer.Argument(help="Folder to write to.")],
) -> None:
    """Write the set, the answers to it, and the answers to Mini-Dev's questions."""
    mini_dev = load_set("mini_dev")
    (to / "mini_dev").mkdir(parents=True, exist_ok=True)
    golds = [line.rpartition("\t") for line in read_text(kit / "dev.sql").text.splitlines()]
    questions = [
        {"question_id": key, "db_id": db_id, "SQL": sql, **UNKNOWN}
        for key, (sql, _, db_id) in enumerate(golds)
    ]
    (to / "dev.json").write_text(as_json(questions), encoding="utf-8")
    (to / "dev.sql").write_bytes((kit / "dev.sql").read_bytes())
    folder = mini_dev.path.parent
    for path in (folder, mini_dev.databases, mini_dev.databases.parent / "dev_tables.json"):
        (to / path.name).unlink(missing_ok=True)
        (to / path.name).symlink_to(path.resolve())
    for path in sorted(kit.glob("predict_dev_*.json")):
        (to / path.name).write_bytes(path.read_bytes())
        answers = json.loads(read_text(path).text)
        texts = ((one.question_id, answers[str(one.question_id)]) for one in mini_dev.questions)
        # An answer that ChatGPT did not give is the number 0.
        lines = [
            as_json({"question_id": key, "sql": text.partition(SEPARATOR)[0]})
            for key, text in texts
            if isinstance(text, str)
        ]
        name = path.stem.removeprefix("predict_dev_")
        target = to / "mini_dev" / f"predict_mini_dev_{name}_sqlite.jsonl"
        target.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
