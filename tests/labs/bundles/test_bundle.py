"""A run packed as a bundle is executed again with the same outcomes; whatever was changed is found."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.data.outcomes import Outcome
from harness.labs.bundles.bundle import PairOutcome, pack, read_bundle, read_receipt
from harness.labs.bundles.verification import Reason, Verification, compared, reason_of, require_same, verify
from harness.runs.reader import read_run
from harness.session.request import Request
from loaders.base.files import as_json
from tests import forked
from tests.harness.conftest import Call
from tests.harness.real_runs import evaluated
from tests.harness.run_folders import right_on, write_run

pytestmark = [pytest.mark.slow, pytest.mark.thorough]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    metrics = "ex,soft_f1,r_ves_stable"
    return evaluated(tmp_path_factory.mktemp("run"), "--dialect", "sqlite", "--metrics", metrics)


@pytest.fixture(scope="module")
def bundle(run: Path) -> Path:
    path = run.parent / "whole.bundle.json"
    pack(read_run(run), path)
    return path


def verified(path: Path) -> Verification:
    return verify(read_bundle(path), Request(), say=lambda _line: None)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def forged(bundle: Path, to: Path, change: Callable[[dict[str, Any], list[Any]], object]) -> Path:
    """A bundle whose outcomes and statement were changed, with digests that fit."""
    content = json.loads(bundle.read_text())
    outcomes = [json.loads(line) for line in content["outcomes"].splitlines()]
    change(content["statement"]["predicate"], outcomes)
    content["outcomes"] = "".join(f"{as_json(one)}\n" for one in outcomes)
    held = {one["name"]: one for one in content["statement"]["subject"]}
    held["outcomes.jsonl"]["digest"]["sha256"] = sha256(content["outcomes"])
    return written(to, content)


def written(to: Path, content: dict[str, Any]) -> Path:
    """A bundle as `submit` writes it, whatever is in it."""
    if "statement" in content:
        content["digest"] = sha256(as_json(content["statement"]))
    to.write_text(as_json(content, indent=1) + "\n")
    return to


def test_the_same_run_gives_the_same_bytes_without_questions_golds_or_times(run: Path, bundle: Path) -> None:
    again = bundle.with_name("again.bundle.json")
    digest = pack(read_run(run), again)
    assert again.read_bytes() == bundle.read_bytes()
    assert read_bundle(bundle).digest == digest
    text = bundle.read_text()
    assert "How many of the library" not in text
    assert "_seconds" not in text
    assert "r_ves" not in json.loads(text)["outcomes"]


def test_the_policy_of_extraction_is_recorded_with_what_it_lost(tmp_path: Path) -> None:
    texts = ["SELECT 1", "I cannot", "```sql\nSELECT 1\n```\nBetter:\n```sql\nSELECT 2\n```"]
    lines = [
        json.dumps({"question_id": number, "sql": text}) + "\n" for number, text in enumerate(texts, start=1)
    ]
    (tmp_path / "raw.jsonl").write_text("".join(lines), encoding="utf-8")
    asked = ("--predictions", "raw.jsonl", "--predictor", "p", "--dialect", "sqlite", "--limit", "3")
    run = evaluated(tmp_path, *asked, "--extract", "answer-1", "--allow-missing")
    manifest = json.loads((run / "manifest.json").read_text())
    [file] = manifest["predictions"]
    assert (manifest["extract"], file["extraction"]["without_sql"], file["extraction"]["several"]) == (
        "answer-1",
        1,
        1,
    )
    note = "answer-1 took the SQL out of the answers; 1 had none, 1 several queries, 2 other words"
    assert note in (run / "tables.md").read_text()
    pack(read_run(run), tmp_path / "p.bundle.json")
    claims = read_bundle(tmp_path / "p.bundle.json").evaluated
    assert (claims.extract, [note in one for one in claims.notes].count(True)) == ("answer-1", 1)


def test_a_bundle_is_confirmed(bundle: Path) -> None:
    found = verified(bundle)
    assert (found.pairs, found.differences, found.claims, found.notes) == (132, [], [], [])
    assert found.is_confirmed


def test_a_forged_outcome_is_named(bundle: Path, tmp_path: Path) -> None:
    def change(_: dict[str, Any], outcomes: list[Any]) -> None:
        one = next(each for each in outcomes if each["outcome"] == "mismatch")
        one.update(outcome="match", scores={"ex": 1.0, "soft_f1": 1.0}, error_class=None)

    found = verified(forged(bundle, tmp_path / "a.json", change))
    assert [each.reason for each in found.differences] == [Reason.RESULT]
    assert "match was submitted, mismatch is what executing gives" in found.differences[0].line
    assert not found.is_confirmed


def test_forged_means_are_named(bundle: Path, tmp_path: Path) -> None:
    def change(predicate: dict[str, Any], _: list[Any]) -> None:
        predicate["scores"][0]["metrics"]["ex"]["total"] = 99.0

    found = verified(forged(bundle, tmp_path / "a.json", change))
    assert found.claims == ["sqlite/careless: its means are not those of its outcomes"]
    assert not found.is_confirmed


def test_a_forged_title_is_named(bundle: Path, tmp_path: Path) -> None:
    assert read_bundle(bundle).evaluated.title == ""
    path = forged(bundle, tmp_path / "a.json", lambda predicate, _: predicate.update(title="BIRD dev"))
    assert verified(path).claims == ["its title: BIRD dev was submitted, sample is right"]


def test_a_part_that_says_it_is_whole_is_told(tmp_path: Path) -> None:
    part = evaluated(tmp_path, "--dialect", "sqlite", "--limit", "3")
    path = tmp_path / "part.bundle.json"
    pack(read_run(part), path)
    assert not read_bundle(path).evaluated.is_complete
    assert verified(path).is_confirmed
    assert verified(path).pairs == 6

    whole = forged(path, tmp_path / "a.json", lambda predicate, _: predicate.update(is_complete=True))
    line = "it says that it is of the whole set, and has no outcome for 126 of its pairs"
    assert line in verified(whole).claims


@pytest.mark.parametrize("name", ["/etc", "../..", "shop", "x" * 5_000, "./sample", "a\nb", ""])
def test_the_name_of_a_set_is_no_path(call: Call, bundle: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "shop").mkdir()
    path = forged(bundle, tmp_path / "a.bundle.json", lambda predicate, _: predicate.update(set_name=name))
    code, _, errors = call("lab", "verify", str(path))
    assert (code, errors.count("\n")) == (2, 1)
    assert (
        "which is not a published one; name the folder or the file of tasks that you have of it with --set"
        in errors
    )


@pytest.mark.parametrize(
    ("submitted", "score", "executed", "reason"),
    [
        ("prediction_timeout", 0.0, "match", Reason.TIME),
        ("mismatch", 0.0, "prediction_timeout", Reason.TIME),
        ("match", 1.0, "prediction_timeout", Reason.UNPROVEN),
        ("prediction_timeout", 1.0, "mismatch", Reason.RESULT),
    ],
)
def test_a_timeout_excuses_no_score(submitted: str, score: float, executed: str, reason: Reason) -> None:
    one, other = (
        PairOutcome(Dialect.SQLITE, "p", "1", "simple", Outcome(outcome), {"ex": ex})
        for outcome, ex in ((submitted, score), (executed, 0.0))
    )
    assert reason_of(one, other) is reason


def test_other_golds_are_refused(bundle: Path, tmp_path: Path) -> None:
    def change(predicate: dict[str, Any], _: list[Any]) -> None:
        predicate["set_files"]["sample_sqlite.json"] = "0" * 64

    with pytest.raises(BadInput, match=r"the file sample_sqlite\.json is not the one that was submitted"):
        verified(forged(bundle, tmp_path / "a.json", change))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda content: content.update(outcomes=content["outcomes"][:-2]), "not those of its statement"),
        (lambda content: content["statement"].update(predicateType="x"), "not of an evaluation: x"),
        (lambda content: content["statement"]["predicate"].update(limits=3), "is damaged: limits is"),
        (lambda content: content["statement"]["predicate"]["scores"].pop(), "132 outcomes of 66 pairs"),
        (lambda content: content.pop("outcomes"), "has no outcomes"),
    ],
)
def test_a_damaged_bundle_is_refused(
    bundle: Path, tmp_path: Path, change: Callable[[Any], object], says: str
) -> None:
    content = json.loads(bundle.read_text())
    change(content)
    path = written(tmp_path / "damaged.json", content)
    with pytest.raises(BadInput, match=says):
        read_bundle(path)


UNPROVABLE = {"set_name", "started", "profile", "now", "packages", "engines", "notes", "reference", "gold"}
"""What the statement says of the submitter's times, versions and settings: its digest alone vouches for it.

Another `set_name` is that of other files, which an execution refuses.
"""


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values within a JSON value."""
    members = dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, dict) else {}
    inner = [each for name, one in members.items() for each in leaves(one, (*path, name))]
    yield from inner or [path]


def other(value: Any) -> Any:
    """A value of the same type, if it has one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return OTHERS.get(value, f"{value}x")
        case _:
            return "x"


OTHERS = {"match": "mismatch", "mismatch": "match", "simple": "moderate", "moderate": "challenging"}


def changed(content: Any, path: Sequence[str | int]) -> Any:
    """A copy with one value changed."""
    copy = json.loads(json.dumps(content))
    *above, last = path
    inner = reduce(getitem, above, copy)
    inner[last] = other(inner[last])
    return copy


def instead(claims: dict[str, Any], told: list[Any]) -> Callable[[dict[str, Any], list[Any]], object]:
    """The change to these claims and outcomes."""
    return lambda predicate, outcomes: (predicate.update(claims), outcomes.__setitem__(slice(None), told))


def test_every_changed_byte_is_found(bundle: Path, tmp_path: Path) -> None:
    whole, path = bundle.read_bytes(), tmp_path / "a.json"
    for place in range(0, len(whole), len(whole) // 100):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(BadInput):
            read_bundle(path)


def test_every_changed_meaning_is_found(bundle: Path, run: Path, tmp_path: Path) -> None:
    """With digests that fit: by reading, by what an execution gave, or by the digest that was published."""
    read, executed = read_bundle(bundle), read_run(run)
    content = json.loads(bundle.read_text())
    predicate = content["statement"]["predicate"]
    outcomes = [json.loads(line) for line in content["outcomes"].splitlines()]
    mutants = [(path, changed(predicate, path), outcomes) for path in leaves(predicate)]
    mutants += [(path, predicate, changed(outcomes, path)) for path in list(leaves(outcomes))[::5]]
    unfound = []
    for where, claims, told in mutants:
        path = forged(bundle, tmp_path / "a.json", instead(claims, told))
        try:
            found = read_bundle(path)
            require_same(found, executed.manifest)
            if not compared(found, executed.manifest, executed.results).is_confirmed:
                continue
        except BadInput:
            continue
        with pytest.raises(BadInput, match="its digest is"):
            read_bundle(path, read.digest)
        if where[0] not in UNPROVABLE and not {"r_ves_stable", "seconds"} & {*where}:
            unfound.append(where)
    assert unfound == []
    assert len(mutants) > 200


def test_an_incomplete_run_is_refused(tmp_path: Path) -> None:
    planned = {"pairs": 30, "questions": 30, "set_questions": 30,
               "scores": [{"predictor": "p", "dialect": "sqlite", "questions": 30}]}  # fmt: skip
    run = write_run(tmp_path / "run", right_on(range(10), questions=20), planned=planned)
    with pytest.raises(BadInput, match="some of its pairs were not judged"):
        pack(read_run(run), tmp_path / "a.json")


def test_a_run_under_a_gold_pack_is_verified_with_that_pack_alone(tmp_path: Path) -> None:
    entries = [{"question_id": 2, "sql": "SELECT 'unknown'", "reason": "prices lack a currency"},
               {"question_id": 3, "status": "excluded", "reason": "two branches of that name"}]  # fmt: skip
    about = {"name": "mine", "version": "1", "set": "sample", "source": "read by me"}
    pack_path = tmp_path / "mine.json"
    pack_path.write_text(json.dumps({**about, "golds": entries}))
    run = evaluated(tmp_path, "--dialect", "sqlite", "--gold", str(pack_path))
    path = tmp_path / "pack.bundle.json"
    pack(read_run(run), path)
    found = read_bundle(path)
    assert found.evaluated.is_complete
    assert found.evaluated.gold is not None
    assert found.evaluated.gold.label == "mine 1"
    again = verify(found, Request(golds=(str(pack_path),)), say=lambda _line: None)
    assert (again.pairs, again.is_confirmed) == (130, True)
    with pytest.raises(BadInput, match="the gold pack is not the one that was submitted"):
        verified(path)


def test_the_commands(bundle: Path, run: Path, tmp_path: Path) -> None:
    done = forked.run(
        "harness", "lab", "submit", str(run), "--out", str(tmp_path / "x.bundle.json"), cwd=tmp_path
    )
    assert done.stdout == f"sha256:{read_bundle(bundle).digest}\n", done.stderr
    done = forked.run(
        "harness", "lab", "verify", str(tmp_path / "x.bundle.json"), "--out", "x.receipt.json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(": 0 of 132 pairs differ\n")
    receipt = read_receipt(tmp_path / "x.receipt.json")
    assert (receipt.digest, receipt.confirmed, receipt.pairs) == (read_bundle(bundle).digest, True, 132)
    done = forked.run("harness", "lab", "board", str(tmp_path), "--out", "site", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sample on SQLite" in (tmp_path / "site" / "index.html").read_text()
    for words in (("submit", str(run)), ("verify", str(bundle))):
        done = forked.run("harness", *words, "--out", "mine.json", cwd=tmp_path)
        assert (done.returncode, (tmp_path / "mine.json").exists()) == (2, False)
        assert "`board` finds files by that ending" in done.stderr
    wrong = forged(bundle, tmp_path / "y.json", lambda predicate, _: predicate["scores"].reverse())
    assert forked.run("harness", "lab", "verify", "--json", str(wrong), cwd=tmp_path).returncode == 0
    changed = forged(bundle, tmp_path / "z.json", lambda _, outcomes: outcomes[0].update(error_class="other"))
    done = forked.run("harness", "lab", "verify", "--json", str(changed), cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["confirmed"] is False
