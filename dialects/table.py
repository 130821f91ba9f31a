"""All rewrites in one table. `python -m dialects.table` prints it as `docs/rewrites.md` has it."""

from importlib import import_module
from pkgutil import iter_modules

from dialects import carried, coercions, rewrites
from dialects.rules import Rule

_HEAD = """# Rewrites

What `dialects.translate` changes, and why: SQLite's behaviour with its source, and how MySQL and PostgreSQL
are made to do the same. The names stand in `Translation.rules` and in the reports of `bird-harness coverage`.
This page is written by `python -m dialects.table`; each row comes from the module that has the rewrite.
"""


def rules() -> dict[str, list[Rule]]:
    """The rows of every module of rewrites, by the module's name."""
    names = sorted(module.name for module in iter_modules(rewrites.__path__))
    modules = [carried, coercions, *(import_module(f"{rewrites.__name__}.{name}") for name in names)]
    found = {module.__name__.rsplit(".", 1)[-1]: list(getattr(module, "RULES", ())) for module in modules}
    return {name: rows for name, rows in found.items() if rows}


def markdown() -> str:
    """The table as a page."""
    parts = [_HEAD]
    for name, rows in rules().items():
        parts.append(f"\n## {name}\n\n| rewrite | SQLite | MySQL and PostgreSQL |\n|---|---|---|\n")
        parts += [
            f"| `{row.name}` | {_cell(row.sqlite)} ([source]({row.url})) | {_cell(row.target)} |\n"
            for row in rows
        ]
    return "".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    print(markdown(), end="")  # noqa: T201 - its purpose
