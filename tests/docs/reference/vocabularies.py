"""The pages of closed vocabularies and of errors."""

import ast
import enum
import inspect
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

import loaders.base.errors
from dialects import enums
from dialects import errors as dialect_errors
from dialects.errors import HarnessError
from harness.analyses.coverage import answers
from harness.data import outcomes, questions
from harness.engines import errors as engine_errors
from harness.labs.conformance import comparison
from harness.metrics import METRICS, Basis, Metric
from harness.sqltree import constructs, diagnosis
from tests.docs.reference.markdown import cell, one_line
from tests.docs.reference.written import WRITTEN

_OF_OUTCOMES = """\
[The run folder](run-folder.md#outcomes) has their meanings and letters. Outcomes that are not the predictor's
are left out of `scored`.
"""


def vocabularies() -> str:
    parts = [
        WRITTEN,
        "# Outcomes, verdicts and exit codes\n",
        "Closed lists of words in results, tables and reports, and exceptions with their exit codes.\n",
        "## Dialects, profiles, difficulties\n",
        *enum_table(enums.Dialect, enums),
        *enum_table(enums.Profile, enums),
        *enum_table(questions.Difficulty, questions),
        "## Question types\n",
        "By which rules: [groups of a report](../how-to/reports.md#question-types).\n",
        *enum_table(constructs.QuestionType, constructs),
        "## Outcomes\n",
        _OF_OUTCOMES,
        "| outcome | the predictor's |\n|---|---|",
        *(f"| `{one}` | {'yes' if one.is_predictors else 'no'} |" for one in outcomes.Outcome),
        "\n## Error classes\n",
        "[Error classes](error-classes.md) has the rules.\n",
        *enum_table(engine_errors.ErrorClass, engine_errors),
        *enum_table(diagnosis.ErrorGroup, diagnosis),
        "## Where gold comes from\n",
        *enum_table(outcomes.GoldOrigin, outcomes),
        "## Reasons of coverage\n",
        "Why a gold is not covered ([coverage](../how-to/coverage.md)).\n",
        *enum_table(answers.DifferenceReason, answers),
        "## Verdicts of conformance\n",
        "What happens to a query of a suite ([conformance](../how-to/coverage.md#verdicts)).\n",
        *enum_table(comparison.QueryVerdict, comparison),
        "## Metrics\n",
        "[Metrics](metrics.md) has the definitions.\n",
        "| name | title | engines |\n|---|---|---|",
        *(f"| `{each.name}` | {each.title} | {_judged_on(each)} |" for each in METRICS.values()),
        "",
    ]
    return "\n".join(parts)


def _judged_on(metric: Metric) -> str:
    if metric.basis is Basis.VERDICT:
        return "all, of tasks alone"
    return "SQLite" if metric.is_of_sqlite else "all"


def enum_table(kind: type[enum.Enum], module: ModuleType) -> Iterator[str]:
    """Values and what stands below each of them in the source."""
    said = _below(kind, module)
    yield f"`{kind.__name__}`: {one_line(inspect.getdoc(kind) or '')}\n"
    yield "| word | meaning |\n|---|---|" if said else "| word |\n|---|"
    for member in kind:
        yield f"| `{member.value}` |" + (f" {cell(said.get(member.name, ''))} |" if said else "")
    yield ""


def _below(kind: type[enum.Enum], module: ModuleType) -> dict[str, str]:
    tree = ast.parse(inspect.getsource(module))
    [body] = [
        node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    ]
    said = {}
    for node, after in pairwise(body):
        if (
            isinstance(node, ast.Assign)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
        ):
            [target] = node.targets
            said[ast.unparse(target)] = one_line(str(after.value.value))
    return said


def errors() -> str:
    parts = [
        "## Exceptions and exit codes\n",
        "The command line prints the message as one line and exits with the code.\n",
        f"{one_line(inspect.getdoc(HarnessError) or '')}\n",
        "| class | exit code | meaning |\n|---|---|---|",
        *(
            f"| `{kind.__module__}.{kind.__name__}` | {kind.exit_code} | {cell(inspect.getdoc(kind) or '')} |"
            for kind in sorted(_subclasses(HarnessError), key=lambda kind: kind.__name__)
        ),
        "\n### Exceptions of a translation\n",
        "| class | meaning |\n|---|---|",
        *(
            f"| `dialects.errors.{name}` | {cell(inspect.getdoc(kind) or '')} |"
            for name, kind in sorted(vars(dialect_errors).items())
            if inspect.isclass(kind) and kind is dialect_errors.Untranslatable
        ),
        "",
    ]
    return "\n".join(parts)


def _subclasses(kind: type[HarnessError]) -> Iterator[type[HarnessError]]:
    """Those that can stop any command; a room's own kinds are in its documentation."""
    for each in kind.__subclasses__():
        if each.__module__ in {dialect_errors.__name__, loaders.base.errors.__name__}:
            yield each
