"""Read a run folder: the manifest, the results, and what reports show of them.

`select` reads the operands of `bird-harness compare`: `FOLDER`, or `FOLDER:SELECTOR` for a part of a run. A
selector is a dialect, a predictor or `DIALECT/PREDICTOR`. Predictors may be named like a dialect, or contain
`/` and `:`; so a selector is read in every way that matches something in the run, and an ambiguous one is an
error that shows how to write each: `DIALECT/` is always a dialect, `/PREDICTOR` always a predictor. Folders
may contain `:`, too: the longest existing path wins.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.answers import Extract
from harness.data.outcomes import AnswerUsage, PairResult, Preview, Verdict
from harness.data.published_sets import Provenance, is_unproven, provenance_sentence, title_in
from harness.data.questions import BIRD_LEVELS, Level, PackUse, Question, cached_types, level
from harness.data.witnesses import Witness, file_of, load
from harness.engines import TITLES, EngineName, kinds_by_name
from harness.metrics import METRICS, Basis
from harness.runs.summary import SCHEMA_VERSION, By, Count, Extent, Key, UsageByPair, Whose, key_in
from harness.sqltree.constructs import constructs
from loaders.base.errors import brief
from loaders.base.files import Faults, one_line, parse_json, read_lines, refuse
from loaders.base.records import read_record, read_records, to_object, to_record

MANIFEST = "manifest.json"
QUESTIONS = "questions.jsonl"
RESULTS = "results.jsonl"
PREVIEWS = "previews.jsonl"
SUMMARY = "summary.json"
USAGE = "usage.jsonl"
"""The usage of answers, a line for each with known usage."""
LATEST = "latest"

AGAIN = "the run folder was changed or cut off: run it again"


@dataclass(frozen=True)
class Run:
    """A finished run, read back from its folder.

    `extent` has what was planned, and how it was selected; `usage` the usage of answers, as far as known.
    """

    folder: Path
    manifest: Mapping[str, Any]
    results: Sequence[PairResult]
    extent: Extent = field(default_factory=Extent)
    usage: UsageByPair = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path | str) -> "Run":
        """Read a run folder back, as `read_run` does."""
        return read_run(Path(folder))

    def to_pandas(self) -> Any:
        """Return a data frame with a row for each pair of a prediction and its gold; needs pandas.

        Its columns are the fields of `PairResult`, with one for each score instead of `scores`: NaN if a pair
        has none. Measured times and structures are omitted.

        Raises:
            BadInput: pandas is not installed.
        """
        try:
            import pandas as pd  # type: ignore[import-untyped]  # noqa: PLC0415 - optional, slow to import
        except ModuleNotFoundError as error:
            if error.name != "pandas":
                raise
            raise BadInput("to_pandas() needs pandas: pip install 'bird-harness[pandas]'") from None
        names = tuple(dict.fromkeys(name for result in self.results for name in result.scores))
        return pd.DataFrame(
            [
                {
                    **{name: _cell(getattr(result, name)) for name in _BEFORE_SCORES},
                    **{name: result.scores.get(name) for name in names},
                    **{name: _cell(getattr(result, name)) for name in _AFTER_SCORES},
                }
                for result in self.results
            ],
            columns=[*_BEFORE_SCORES, *names, *_AFTER_SCORES],
        )


_BEFORE_SCORES = ("dialect", "predictor", "question", "question_id", "db_id", "difficulty", "outcome")
_AFTER_SCORES = (
    "gold_origin", "error", "code", "error_class", "prediction_seconds", "gold_seconds",
    "compared_variants", "failed_variant", "sql",
)  # fmt: skip


def _cell(value: Any) -> Any:
    """Return a value as pandas shows it best: members of enums as plain strings."""
    return str(value) if isinstance(value, str) else value


def read_run(folder: Path) -> Run:
    """Read a run folder: everything that scores are computed from.

    The results must be those that the summary counts, each of a pair that the manifest plans.

    Raises:
        BadInput: it is not a run folder, or its run is incomplete, of another version, or damaged.
    """
    manifest = read_manifest(folder)
    if not (folder / SUMMARY).exists():
        refuse(folder, f"has no {SUMMARY}: the run was broken off", "repeat its command with --resume")
    summary = read_record(folder / SUMMARY, to_object, AGAIN)
    written = summary.get("schema_version")
    if written != SCHEMA_VERSION:
        other = f"schema_version is {written}, and this version of bird-harness reads {SCHEMA_VERSION}"
        refuse(folder / SUMMARY, other, "run it again with this version")
    results = read_results(folder)
    try:
        counts = [to_record(Count, score, others=True) for score in to_record(list, summary.get("scores"))]
        awaited = {count.whose: count.questions for count in counts}
    except (ValueError, BadInput) as fault:
        refuse(folder / SUMMARY, f"is damaged: {fault}", AGAIN)
    if len(results) != sum(awaited.values()):
        refuse(folder / RESULTS, f"has {len(results)} results, {SUMMARY} {sum(awaited.values())}", AGAIN)
    try:
        extent = Extent.from_manifest(manifest)
    except (ValueError, BadInput) as fault:
        refuse(folder / MANIFEST, f"lacks the planned pairs: {fault}", AGAIN)
    _check_pairs(folder, results, awaited, extent)
    return Run(folder, manifest, results, extent, read_usage(folder))


def require_questions(run: Run) -> None:
    """Check that a run is of questions, so that its texts can be executed and scored again.

    Raises:
        BadInput: a lab has judged it, on a set of its own.
    """
    names = [str(name) for name in run.manifest.get("metrics") or ()]
    if any(name in METRICS and METRICS[name].basis is Basis.VERDICT for name in names):
        refuse(
            run.folder,
            f"is a run of {run.manifest.get('set')}, which a lab judges by verdicts of its own",
            "name a run of questions here; report, runs, compare and lab submit take this one",
        )


def _check_pairs(
    folder: Path, results: Sequence[PairResult], awaited: Mapping[Whose, int], extent: Extent
) -> None:
    """Check that each result is of a planned pair, and that no predictor has lost results.

    Raises:
        BadInput: a result is of a predictor, an engine or a question outside of the run, or one is lost.
    """
    faults = Faults(folder / RESULTS, "result")
    found = Counter((result.predictor, result.dialect) for result in results)
    for whose in found.keys() | awaited.keys():
        name = f"{whose[1]}/{whose[0]}"
        if extent.planned and whose not in extent.planned:
            faults.add(name, f"of a predictor and an engine that {MANIFEST} does not plan", AGAIN)
        elif found[whose] != awaited.get(whose, 0):
            faults.add(f"{name}: {found[whose]}", f"not as many as {SUMMARY} counts", AGAIN)
        elif extent.planned and found[whose] > extent.planned[whose]:
            faults.add(f"{name}: {found[whose]}", f"more than {MANIFEST} plans", AGAIN)
    known = read_questions(folder)
    for result in results:
        if known and result.question not in known:
            faults.add(f"{result.dialect}/{result.predictor}::{result.question}",
                       f"of a question that {QUESTIONS} has not", AGAIN)  # fmt: skip
    faults.stop()


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a run: its request, and the machine it ran on.

    Raises:
        BadInput: it is not a run folder, or the file is damaged.
    """
    if not (folder / MANIFEST).exists():
        refuse(folder, f"has no {MANIFEST}", f"name a run folder: results/<run id> or results/{LATEST}")
    manifest = read_record(folder / MANIFEST, to_object, AGAIN)
    run_id = str(manifest.get("run_id"))
    if run_id in {".", ".."} or "/" in run_id or "\0" in run_id:
        # Files are named by it.
        refuse(folder / MANIFEST, f"its run_id {brief(repr(run_id))} is no name", AGAIN)
    return manifest


def levels_in(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the levels of difficulty of a run's question set; BIRD's if the manifest names none."""
    return tuple(map(str, manifest.get("levels") or BIRD_LEVELS))


def read_results(folder: Path) -> list[PairResult]:
    """Return the results of a run folder, in the order they were written, without previews.

    Raises:
        BadInput: the file is missing, or a line is not a result or repeats one.
    """
    results = results_of(folder / RESULTS, read_lines(folder / RESULTS), levels_in(read_manifest(folder)))
    if not results:
        refuse(folder / RESULTS, "is empty", AGAIN)
    return results


def read_questions(folder: Path) -> dict[str, Question]:
    """Return the questions of a run by key, with the golds that were used; translated ones are in previews.

    Raises:
        BadInput: the file is missing, or a line is not a question.
    """
    manifest = read_manifest(folder)
    levels, types = levels_in(manifest), tuple(map(str, manifest.get("types", ())))
    questions = read_records(folder / QUESTIONS, lambda record: _question(record, levels, types), AGAIN)
    return {question.key: question for question in questions}


def read_labels(folder: Path, by: By) -> dict[str, Sequence[str]]:
    """Read into which groups its text, evidence and gold put each question, by its key; other `by`: none.

    Raises:
        BadInput: the file of the questions is missing, or a line is not a question.
    """
    if by is By.TYPE:
        return dict(cached_types([*read_questions(folder).values()]))
    if by is By.CONSTRUCT:
        golds = {key: question.gold.get(Dialect.SQLITE) for key, question in read_questions(folder).items()}
        return {key: constructs(gold) for key, gold in golds.items() if gold is not None}
    return {}


def read_previews(folder: Path) -> dict[Key, Preview]:
    """Return the previews of rows of the pairs of a run that have any.

    Raises:
        BadInput: the file is missing, or a line is not a preview.
    """
    return dict(read_records(folder / PREVIEWS, _preview, AGAIN))


def read_witness(folder: Path, result: PairResult) -> Witness | None:
    """Return the witness against an answer of a run; None if it is not refuted.

    Raises:
        BadInput: the file is missing or damaged.
    """
    is_refuted = result.tested is not None and result.tested.verdict is Verdict.REFUTED
    return load(folder / file_of(*key_of(result))) if is_refuted else None


def results_of(
    path: Path, lines: Iterable[tuple[int, str]], levels: Sequence[str] = BIRD_LEVELS
) -> list[PairResult]:
    """Return the results in numbered lines of a file.

    Args:
        path: the file.
        lines: the numbers and texts of lines.
        levels: the levels of difficulty of the question set.

    Raises:
        BadInput: a line is not a result, or repeats one.
    """
    faults = Faults(path, "line")
    results: dict[Key, PairResult] = {}
    for number, line in lines:
        try:
            result = PairResult.from_json(parse_json(line), levels)
        except (ValueError, BadInput) as fault:
            faults.add(number, f"not a result of this version: {fault}", AGAIN)
            continue
        if key_of(result) in results:
            faults.add(f"{number} (question {result.question})", "a second result of a pair", AGAIN)
        results[key_of(result)] = result
    faults.stop()
    return list(results.values())


def key_of(result: PairResult) -> Key:
    """Return the key that identifies a result within its run."""
    return result.dialect, result.predictor, result.question


def _question(record: Any, levels: Sequence[str], types: Sequence[str]) -> Question:
    question = to_record(Question, record)
    own = question.own_types
    return replace(
        question,
        difficulty=level(question.difficulty, levels),
        own_types=None if own is None else tuple(Level(each, types) for each in own),
    )


def _preview(record: Any) -> tuple[Key, Preview]:
    key = key_in(record)
    return key, to_record(Preview, {name: record[name] for name in record if name not in _KEY})


_KEY = ("dialect", "predictor", "question")


def read_usage(folder: Path) -> dict[Key, AnswerUsage]:
    """Return the known usage of answers; empty if the run has no such file.

    Raises:
        BadInput: a line is damaged.
    """
    path = folder / USAGE
    return dict(read_records(path, _usage, AGAIN)) if path.exists() else {}


def _usage(record: Any) -> tuple[Key, AnswerUsage]:
    key = key_in(record)
    return key, AnswerUsage.from_json(record)


# Parts of a run, as named on the command line.


@dataclass(frozen=True)
class Selection:
    """The part of a run that an operand selects; `results` is never empty and keeps the run's order."""

    text: str
    run: Run
    results: Mapping[Whose, Sequence[PairResult]]


def select(text: str) -> Selection:
    """Read an operand and its run.

    Raises:
        BadInput: there is no such folder, it has no readable run, or the selector matches nothing.
    """
    folder, selector = _split(text)
    run = read_run(folder)
    results: dict[Whose, list[PairResult]] = {}
    for result in run.results:
        results.setdefault((result.predictor, result.dialect), []).append(result)
    if not results:
        raise _refusal(text, f"{folder} has no results", "run it again")
    chosen = _chosen(text, selector, list(results)) if selector is not None else list(results)
    return Selection(text, run, {key: results[key] for key in chosen})


def counterparts(a: Selection, b: Selection) -> tuple[list[tuple[Whose, Whose]], list[Whose], list[Whose]]:
    """Return the pairs to compare, and the predictors on engines that only A and only B have.

    Equal names are compared. If each side has a single predictor, the two need not be equal; the same holds
    for engines.
    """
    any_predictor, any_dialect = (
        all(len({key[part] for key in side.results}) == 1 for side in (a, b)) for part in (0, 1)
    )

    def by_name(side: Selection) -> dict[tuple[str | None, EngineName | None], Whose]:
        return {
            (None if any_predictor else key[0], None if any_dialect else key[1]): key for key in side.results
        }

    of_a, of_b = by_name(a), by_name(b)
    return (
        [(of_a[name], of_b[name]) for name in of_a if name in of_b],
        [key for name, key in of_a.items() if name not in of_b],
        [key for name, key in of_b.items() if name not in of_a],
    )


def described(keys: Sequence[Whose]) -> str:
    """Return predictors on engines as selectors."""
    return ", ".join(f"{dialect}/{predictor}" for predictor, dialect in keys)


def _split(text: str) -> tuple[Path, str | None]:
    """Return the folder and the selector: the longest existing folder wins."""
    ends = [len(text), *(place for place in reversed(range(len(text))) if text[place] == ":")]
    for end in ends:
        if os.path.isdir(text[:end]):  # noqa: PTH112 - the one that takes a text that can be no path
            return Path(text[:end]), text[end + 1 :] if end < len(text) else None
    raise _refusal(text, "no such folder", "name a run folder, results/<run id> or results/latest")


def _chosen(text: str, selector: str, keys: Sequence[Whose]) -> list[Whose]:
    readings = []
    for predictor, dialect in _readings(selector):
        fitting = [key for key in keys if predictor in (None, key[0]) and dialect in (None, key[1])]
        if fitting and fitting not in readings:
            readings.append(fitting)
    if not readings:
        fault = f"{selector!r} is neither a dialect nor a predictor of that run, which has {described(keys)}"
        raise _refusal(text, fault, "choose DIALECT, PREDICTOR or DIALECT/PREDICTOR")
    if len(readings) > 1:
        fault = f"{selector!r} can mean {' or '.join(map(described, readings))}"
        raise _refusal(text, fault, "write DIALECT/, /PREDICTOR or DIALECT/PREDICTOR")
    return readings[0]


def _readings(selector: str) -> Iterator[tuple[str | None, EngineName | None]]:
    """Yield every predictor and dialect, None for any, that a selector can mean."""
    dialect, slash, predictor = selector.partition("/")
    if dialect in kinds_by_name():
        yield predictor or None, dialect
    if slash and not dialect:
        yield predictor, None
    yield selector, None


def _refusal(text: str, fault: str, remedy: str) -> BadInput:
    return BadInput(one_line(f"compare {text}: {fault}; {remedy}"))


def databases_note(manifest: Mapping[str, Any], *, are_named: bool = True) -> list[str]:
    """Return the note that must accompany a run's figures if its databases are not the published ones.

    An unknown digest does not count against a run whose other databases are the published ones.

    Args:
        manifest: the run's manifest.
        are_named: name the databases instead of only counting them.
    """
    recorded = manifest.get("provenance")
    try:
        found = {str(db_id): Provenance(each) for db_id, each in (recorded or {}).items()}
    except (AttributeError, ValueError):
        return []
    if not is_unproven(found):
        return []
    return [provenance_sentence(found, title_in(manifest).partition(",")[0], are_named=are_named)]


def notes_of(manifest: Mapping[str, Any]) -> list[str]:
    """Return the notes that must accompany a run's figures: on its golds, databases and answers."""
    return [
        *golds_note(manifest),
        *databases_note(manifest),
        *extraction_note(manifest),
        *clock_note(manifest),
        *map(str, manifest.get("unfit_settings") or ()),
    ]


def clock_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return notes on golds whose rows depend on the day of the run, and on those without rows."""
    said = []
    asking = manifest.get("golds_of_the_time")
    if now := manifest.get("now"):
        said.append(f"Golds and predictions take {str(now).removesuffix('+00:00')} UTC for the present.")
    elif asking:
        said.append(
            f"Golds that ask for the time: {asking:,} of {manifest['questions']:,}. Their rows depend on the"
            " day of the run; --now pins it."
        )
    empty = manifest.get("empty_golds") or {}
    if counts := [f"{count:,} on {TITLES.get(name, name)}" for name, count in empty.items() if count]:
        said.append(f"Golds that returned no row: {', '.join(counts)}. Any answer without rows matches them.")
    return said


def extraction_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return what was lost or chosen where SQL was taken out of answers by more than their fences."""
    policy = manifest.get("extract")
    if policy in {None, Extract.NONE, Extract.FENCES}:
        return []
    return [
        f"{file['predictor']} in {file['dialect']}: {policy} took the SQL out of the answers;"
        f" {counts['without_sql']:,} had none, {counts['several']:,} several queries,"
        f" {counts['surrounded']:,} other words"
        for file in manifest.get("predictions") or ()
        if isinstance(file, dict)
        and isinstance(counts := file.get("extraction"), dict)
        and any(counts.get(name) for name in ("without_sql", "several", "surrounded"))
    ]


def golds_note(manifest: Mapping[str, Any]) -> list[str]:
    """Return notes on comparisons other than predictors' own texts with the set's own golds."""
    pack = PackUse.of(manifest)
    said = [] if pack is None else [str(pack)]
    if manifest.get("reference") == "sqlite":
        said.append("Answers on servers are compared with the rows of SQLite's golds, by value.")
    said += [
        f"{file['predictor']} in {file['dialect']}: its answers in {file['translated_from']}, translated by"
        " bird-harness; it did not write these."
        for file in manifest.get("predictions") or ()
        if isinstance(file, dict) and file.get("translated_from")
    ]
    return said
