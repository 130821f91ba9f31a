"""Read prediction files: every SQL text reaches its question unchanged, or the run stops.

Wrong counts, unknown, repeated or missing questions and doubtful positions are refused, where the official
scripts would silently score something else. `harness.data.prediction_files` describes the formats.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from dialects.errors import BadInput
from harness.data.answer_records import RecordKeys
from harness.data.answers import NO_SQL, Extract, extract
from harness.data.outcomes import AnswerUsage
from harness.data.prediction_files import (
    ANSWERS,
    JOURNAL,
    MANIFEST,
    PREDICTIONS,
    SCHEME,
    Format,
    Label,
    is_named,
    label,
    read_entries,
)
from harness.data.questions import Question, QuestionSet, cached_types, subset
from harness.engines import EngineName, dialect_of, kinds_by_name
from loaders.base.errors import brief
from loaders.base.files import Faults, most_bytes, one_line, read_text, refuse, visible
from loaders.base.records import read_record, read_records, to_object, to_record

# Select questions of a set: by database, difficulty or name, a sample of them, or the first.


@dataclass(frozen=True)
class Choice:
    """A selection of a set's questions; each field narrows down those before it.

    `sample` is a number of questions, drawn by `seed` so that databases and difficulties keep their shares.
    """

    db_ids: Sequence[str] = ()
    difficulties: Sequence[str] = ()
    types: Sequence[str] = ()
    keys: Sequence[str] = ()
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    def __str__(self) -> str:
        """Return the options for it; empty if it selects every question."""
        parts = [f"--db {name}" for name in self.db_ids]
        parts += [f"--difficulty {name}" for name in self.difficulties]
        parts += [f"--type {name}" for name in self.types]
        parts += [f"--question {name}" for name in self.keys]
        if self.sample is not None:
            parts.append(f"--sample {self.sample} --seed {self.seed}")
        if self.limit is not None:
            parts.append(f"--limit {self.limit}")
        return " ".join(parts)

    @property
    def beyond_limit(self) -> str:
        """Return the same, but empty if only the first questions are selected."""
        return str(self) if any((self.db_ids, self.difficulties, self.types, self.keys, self.sample)) else ""

    def of(self, questions: QuestionSet) -> QuestionSet:
        """Return the selected questions of a set, in its order.

        Raises:
            BadInput: a name is not in the set, or no question is left.
        """
        _check("--db", self.db_ids, questions.db_ids, questions.name)
        _check("--difficulty", self.difficulties, questions.levels, questions.name)
        _check("--type", self.types, questions.types, questions.name)
        keys = {questions.key_of(key) for key in self.keys}
        types = cached_types(questions.questions) if self.types else {}
        left = [
            question
            for question in questions.questions
            if (not self.db_ids or question.db_id in self.db_ids)
            and (not self.difficulties or question.difficulty in self.difficulties)
            and (not self.types or not set(self.types).isdisjoint(types[question.key]))
            and (not keys or question.key in keys)
        ]
        if self.sample is not None:
            drawn = {question.key for question in _sample(left, self.sample, self.seed)}
            left = [question for question in left if question.key in drawn]
        if not left:
            raise BadInput(f"{self}: no question of {questions.name} is left; change the selection")
        whole = questions if len(left) == len(questions.questions) else subset(questions, left)
        return whole if self.limit is None else whole.limit(self.limit)


def _sample(questions: Sequence[Question], count: int, seed: int) -> list[Question]:
    """Draw a systematic sample over the questions by database and difficulty, at random within each.

    Every such group has its share of the sample, rounded up or down.
    """
    if count >= len(questions):
        return list(questions)
    chance = Random(seed)  # noqa: S311 - it must be reproducible
    mixed = sorted(questions, key=lambda question: question.key)
    chance.shuffle(mixed)
    mixed.sort(key=lambda question: (question.db_id, str(question.difficulty)))
    step, start = len(mixed) / count, chance.random()
    return [mixed[int((place + start) * step)] for place in range(count)]


def _check(option: str, wanted: Sequence[str], known: Sequence[str], name: str) -> None:
    for each in wanted:
        if each not in known:
            raise BadInput(f"{option} {brief(repr(each))}: not in {name}; choose from {', '.join(known)}")


_SHOWN = 200
"""Maximum characters of file names in a message."""


@dataclass(frozen=True)
class ExtractionCounts:
    """What a policy did to the answers of a file.

    `changed` counts the answers of which it took a part, `without_sql` those in which it found no query,
    `several` those with several queries, of which it chose one, `surrounded` those with other words.
    """

    changed: int = 0
    without_sql: int = 0
    several: int = 0
    surrounded: int = 0


@dataclass(frozen=True)
class PredictionFile:
    """The answers of one predictor in one dialect.

    `predictions` has every question of the set by its key; None if the file has no answer. `reasons` has
    the file's reasons for missing answers. `extract` is the policy that took the SQL out of the answers, and
    `extracted` what it did to them; an answer in which it found none is missing, with `NO_SQL` as its reason.
    `shared_ids` are ids that several questions share and that the file names as often. `notes` tell how
    the file was read. `translated_from`
    is the predictor's own dialect if its answers are translations. `usage` is the known usage of answers, by
    the question's key.
    """

    predictor: str
    dialect: EngineName
    path: Path
    sha256: str
    format: Format
    predictions: Mapping[str, str | None]
    extract: Extract = Extract.NONE
    extracted: ExtractionCounts = field(default_factory=ExtractionCounts)
    reasons: Mapping[str, str] = field(default_factory=dict)
    shared_ids: Sequence[int | str] = ()
    notes: Sequence[str] = ()
    translated_from: EngineName | None = None
    usage: Mapping[str, AnswerUsage] = field(default_factory=dict)


def read_predictions(  # noqa: PLR0913 - the reader's options
    paths: Sequence[Path],
    questions: QuestionSet,
    *,
    predictor: str | None = None,
    extract: Extract = Extract.NONE,
    allow_missing: bool = False,
    dialects: Sequence[EngineName] | None = None,
    scored: QuestionSet | None = None,
    keys: Sequence[str] = (),
    say: Callable[[str], None] | None = None,
) -> list[PredictionFile]:
    """Read prediction files and folders of them.

    Args:
        paths: files, and folders of which every `*.json` and `*.jsonl` is read, in order of their names, and
            every `*.sql`, `*.txt` and `*.csv` whose name is `predict_<set>_<predictor>_<dialect>`.
        questions: the whole set, even if only a part of it is to be scored.
        predictor: the predictor of all files, instead of the ones in their names.
        extract: the policy that takes the SQL out of the answers.
        allow_missing: questions without an answer become None instead of an error.
        dialects: ignore other dialects; None keeps all. A single one is also the dialect of files that
            do not name theirs.
        scored: the part of the set that needs answers; None means all of it.
        keys: the files' own names of keys, as `harness.data.answer_records.parse_keys` returns them.
        say: called with a line about each folder in which some such files are not read, and about what is
            not read of a file.

    Returns:
        One per predictor and dialect, in the order of the files.

    Raises:
        BadInput: a file is wrong, two files answer for the same predictor and dialect, or nothing is left.
    """
    asked: Sequence[EngineName] = tuple(kinds_by_name()) if dialects is None else dialects
    only = asked[0] if len(asked) == 1 else None
    files: list[PredictionFile] = []
    for path in _expand(paths, say):
        named = label(path, questions.name, predictor, only, questions.questions_of)
        if named.dialect is None or named.dialect in asked:
            files += _read(path, questions, named, asked, RecordKeys.of(keys))
    if not files:
        named_paths = ", ".join(map(str, paths)) or "no prediction file"
        remedy = "name files that have some, or choose another dialect"
        raise BadInput(one_line(f"{named_paths}: no predictions for {', '.join(asked)}; {remedy}"))
    _refuse_doubles(files)
    if say is not None:
        for path, notes in {file.path: file.notes for file in files}.items():
            for note in notes:
                say(f"{path}: {note}")
    if not allow_missing:
        for file in files:
            _refuse_missing(file, questions, scored or questions)
    return [with_extracted(file, extract) for file in files]


def _expand(paths: Sequence[Path], say: Callable[[str], None] | None) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside, left = _inside(path)
        if (path / MANIFEST).exists() and (path / JOURNAL).exists():
            # The folder of `predict`, which keeps its prediction files below.
            inside = [one for one in inside if one.name not in {ANSWERS, JOURNAL, MANIFEST}]
            inside += _inside(path / PREDICTIONS)[0] if (path / PREDICTIONS).is_dir() else []
            left = []
        untold = brief(", ".join(one.name for one in left), _SHOWN) if left else ""
        remedy = f"name each with --predictions, or rename it to {SCHEME}"
        if not inside and left:
            refuse(
                path,
                f"the folder has no *.json or *.jsonl, and its file names are incomplete: {untold}",
                remedy,
            )
        if not inside:
            refuse(path, "the folder has no *.json or *.jsonl", "name a folder of prediction files")
        if left and say is not None:
            say(f"{path}: files with incomplete names were not read: {untold}; {remedy}")
        files += inside
    return files


def _inside(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the prediction files of a folder, and files that may be some but are not named so."""
    try:
        there = visible(folder)
    except OSError as error:
        refuse(folder, f"cannot be read ({error.strerror})", "check its permissions")
    json = [path for path in there if path.suffix.lower() in {".json", ".jsonl"}]
    others = [path for path in there if path.suffix.lower() in {".sql", ".txt", ".csv"} and path.is_file()]
    # Text and tables may be anything: gold, notes, scores.
    named = [path for path in others if is_named(path)]
    return sorted([*json, *named]), [path for path in others if path not in named]


def _read(
    path: Path, questions: QuestionSet, named: Label, dialects: Sequence[EngineName], keys: RecordKeys
) -> list[PredictionFile]:
    file = read_text(path, most_bytes())
    entries = read_entries(file, questions, named, keys)
    answers: dict[tuple[str, EngineName], dict[str, str | None]] = {}
    reasons: dict[tuple[str, EngineName], dict[str, str]] = {}
    sources: dict[tuple[str, EngineName], EngineName] = {}
    used: dict[tuple[str, EngineName], dict[str, AnswerUsage]] = {}
    for entry in entries.predictions:
        whose = entry.predictor, entry.dialect
        answers.setdefault(whose, {})[entry.key] = entry.sql
        if entry.reason is not None:
            reasons.setdefault(whose, {})[entry.key] = entry.reason
        if entry.translated_from is not None:
            sources[whose] = entry.translated_from
        if entry.usage != AnswerUsage():
            used.setdefault(whose, {})[entry.key] = entry.usage
    return [
        PredictionFile(
            predictor=predictor,
            dialect=dialect,
            path=file.path,
            sha256=file.sha256,
            format=entries.format,
            predictions={question.key: given.get(question.key) for question in questions.questions},
            reasons=reasons.get((predictor, dialect), {}),
            shared_ids=entries.shared_ids,
            notes=entries.notes,
            translated_from=sources.get((predictor, dialect)),
            # A line's own figures override those stored beside the file.
            usage=_usage_of_answers(usage_beside(path, dialect), given) | used.get((predictor, dialect), {}),
        )
        for (predictor, dialect), given in answers.items()
        if dialect in dialects
    ]


def _usage_of_answers(
    usage: Mapping[str, AnswerUsage], given: Mapping[str, object]
) -> dict[str, AnswerUsage]:
    return {key: one for key, one in usage.items() if key in given and one != AnswerUsage()}


def _refuse_doubles(files: Sequence[PredictionFile]) -> None:
    first: dict[tuple[str, EngineName], Path] = {}
    for file in files:
        identity = (file.predictor, file.dialect)
        if identity in first:
            same = f"it has predictions of {file.predictor} in {file.dialect}, as has {first[identity]}"
            refuse(file.path, same, "omit one, or rename the predictor of one")
        first[identity] = file.path


def _refuse_missing(file: PredictionFile, questions: QuestionSet, scored: QuestionSet) -> None:
    faults = Faults(file.path, "question")
    unanswered = f"no prediction of {file.predictor} in {file.dialect}"
    needed = {question.key for question in scored.questions}
    which = "all" if len(needed) == len(file.predictions) else f"the chosen {len(needed)} of"
    remedy = f"answer {which} {len(file.predictions)} questions of {questions.name}, or give --allow-missing"
    for position, key in enumerate(questions.order[dialect_of(file.dialect)]):
        if key in needed and file.predictions[key] is None and key not in file.reasons:
            place = f" (entry {position})" if file.format in {Format.OFFICIAL, Format.ARRAY} else ""
            faults.add(f"{key}{place}", unanswered, remedy)
    faults.stop()


def with_extracted(file: PredictionFile, policy: Extract) -> PredictionFile:
    """Return a file with the SQL that a policy takes out of its answers."""
    if policy is Extract.NONE:
        return file
    found = {
        key: extract(answer, policy, file.dialect)
        for key, answer in file.predictions.items()
        if answer is not None
    }
    without = {key: NO_SQL for key, one in found.items() if one.sql is None}
    counts = ExtractionCounts(
        changed=sum(one.sql != file.predictions[key] for key, one in found.items()),
        without_sql=len(without),
        several=sum(one.candidates > 1 for one in found.values()),
        surrounded=sum(one.is_surrounded for one in found.values()),
    )
    return replace(
        file,
        predictions={key: found[key].sql if key in found else None for key in file.predictions},
        reasons={**file.reasons, **without},
        extract=policy,
        extracted=counts,
    )


# `bird-harness lab predict` keeps its answers beside its prediction files (`harness.labs.predict.predict`).

_REMEDY = "let predict write its folder again, or move the prediction file out of it"


def usage_beside(path: Path, dialect: EngineName) -> dict[str, AnswerUsage]:
    """Return the usage of the answers of a prediction file, by the question's key, if `predict` wrote it.

    The answer that most samples agree with has the usage of all samples.

    Args:
        path: the prediction file.
        dialect: the dialect of its answers.

    Raises:
        BadInput: the answers or the manifest of such a folder are damaged.
    """
    folder = path.parent.parent
    if path.parent.name != PREDICTIONS or not all(
        (folder / name).is_file() for name in (ANSWERS, JOURNAL, MANIFEST)
    ):
        return {}
    manifest = read_record(folder / MANIFEST, to_object, _REMEDY)
    stem = f"predict_{manifest.get('set')}_{manifest.get('name')}"
    end = f"_{dialect}.jsonl"
    if not path.name.startswith(stem) or not path.name.endswith(end):
        return {}
    which = path.name.removeprefix(stem).removesuffix(end)
    changed = (folder / ANSWERS).stat().st_mtime_ns
    answers = _answers(folder / ANSWERS, changed)
    found: dict[str, AnswerUsage] = {}
    for (question, of_dialect, sample), usage in answers.items():
        if of_dialect != dialect or which not in {"", "@majority", f"@{sample + 1}"}:
            continue
        found[question] = found[question] + usage if question in found else usage
    return found


@lru_cache(maxsize=1)
def _answers(path: Path, changed: int) -> Mapping[tuple[str, str, int], AnswerUsage]:
    """Return usage by question, dialect and sample; `changed`, the file's time of change, is a cache key."""
    del changed
    return dict(read_records(path, _answer, _REMEDY))


def _answer(record: Any) -> tuple[tuple[str, str, int], AnswerUsage]:
    whose = to_record(_Answer, record, others=True)
    return (whose.question, whose.dialect, whose.sample), AnswerUsage.from_json(record)


@dataclass(frozen=True)
class _Answer:
    """The answer that a line of `predict` is about."""

    question: str
    dialect: str
    sample: int
