"""E1: the cases that the paper prints, executed."""

from collections.abc import Iterator
from functools import partial

from harness.efficiency.study.cases import CASES, PaperCase
from harness.efficiency.study.part import Part, StudyContext, StudyOutput
from harness.engines import TITLES, EngineName
from harness.engines.execution import Ending, execute
from harness.metrics.comparison import compare
from harness.report.table_model import Cell, CellKind, ColumnGroup, TableColumn, TableModel, TableRow


def run(context: StudyContext) -> Iterator[StudyOutput]:
    """Hold each rewritten text against its original."""
    cases = [case for case in CASES if case.db_id in context.questions.db_ids]
    context.expect(len(cases) * len(context.engines))
    columns = (
        TableColumn("rows", "rows", "case", kind=CellKind.COUNT),
        TableColumn("rewritten", "rewritten_rows", "case", kind=CellKind.COUNT),
        TableColumn("saved % (paper)", "published_saving", "case"),
    )
    rows = []
    for case in cases:
        for engine in context.engines:
            key = ("rows", case.name, engine)
            found = context.unit(key, partial(_related, context, case, engine))
            cells = (Cell(found["original"]), Cell(found["rewritten"]), Cell(case.saving))
            labels = (case.name, case.rule, TITLES[engine], found["relation"])
            rows.append(TableRow(labels, cells, "", dialect=engine, level=case.name))
    yield TableModel(
        "Rows of original and rewritten texts",
        ("case", "rule", "engine", "the same rows"),
        (ColumnGroup("", columns),),
        tuple(rows),
    )


def _related(context: StudyContext, case: PaperCase, engine: EngineName) -> dict[str, object]:
    database = context.database(case.db_id)
    both = [
        execute(context.engines[engine], database, text, context.limits)
        for text in (case.original, case.rewritten)
    ]
    failed = next((one for one in both if one.ending is not Ending.ROWS), None)
    if failed is not None:
        return {"relation": failed.error or failed.ending, "original": None, "rewritten": None}
    original, rewritten = (one.rows for one in both)
    found = compare(original, rewritten)
    words = "same order" if found.same_order else "same bag" if found.same_bag else ""
    words = words or ("same set, other bag" if found.same_set else "other rows")
    return {"relation": words, "original": len(original), "rewritten": len(rewritten)}


PART = Part("e1", "The paper's cases", run)
