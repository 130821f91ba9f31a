"""The rules as a table of docs/efficiency.md: `python -m harness.efficiency.rewriting.table` prints it."""

from harness.efficiency.rewriting.rules import RULES


def rules_table() -> str:
    """One row a rule, in the order in which they are applied together, as Markdown."""
    rows = [
        f"| {rule.title} | `{rule.name}` | {rule.precondition} | {rule.counterexample} | {rule.source} |"
        for rule in RULES.values()
    ]
    head = "| rule | name | precondition | without it | described by |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


if __name__ == "__main__":
    print(rules_table())  # noqa: T201 - what it is for
