"""Whether a server can start from an image with databases inside, told by what its labels say."""

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dialects.enums import Dialect
from dialects.errors import BadInput
from harness.cli import app
from harness.provision import loaded_images
from harness.provision.loaded_images import ACCOUNTS, Labels, LoadedImage, Plain, misfit

MYSQL, POSTGRESQL = Dialect.MYSQL, Dialect.POSTGRESQL

LABELS = Labels(
    dialect="mysql",
    set="sample",
    collection="bird_sample",
    version="9.7.4",
    base="plain:1",
    base_id="sha256:1",
    accounts=ACCOUNTS,
    settings="lower_case_table_names = 1",
    loader="2",
    project="0.1.0",
    inputs="0",
)
HERE = Plain("plain:1", "sha256:1", "9.7.4")
ELSEWHERE = Plain("plain:1", None, None)


@pytest.mark.parametrize(
    ("labels", "plain", "reason"),
    [
        (LABELS, HERE, None),
        (LABELS, replace(HERE, name="other:1", identity="sha256:2"), None),
        (LABELS, replace(HERE, version="9.7.5"), "it has version 9.7.4, and plain:1 has 9.7.5"),
        (LABELS, replace(HERE, version=None), "it has version 9.7.4, and plain:1 has another"),
        (LABELS, ELSEWHERE, None),
        (LABELS, replace(ELSEWHERE, name="other:9.7"), None),
        (LABELS, replace(ELSEWHERE, name="other:9.7.4"), None),
        (LABELS, replace(ELSEWHERE, name="other:9.70"), "it was made from plain:1, and other:9.70 is chosen"),
        (LABELS, replace(ELSEWHERE, name="other:latest"), "and other:latest is chosen"),
        (LABELS, replace(ELSEWHERE, name="other"), "and other is chosen"),
        (LABELS, replace(ELSEWHERE, name="other:1"), "it was made from plain:1, and other:1 is chosen"),
        (replace(LABELS, accounts="0"), HERE, r"another version of bird-harness made it \(0.1.0\)"),
        (replace(LABELS, accounts=""), HERE, "another version of bird-harness"),
        (
            replace(LABELS, settings="lower_case_table_names = 0"),
            HERE,
            "made with 'lower_case_table_names = 0', and 'lower_case_table_names = 1' is set now",
        ),
        (replace(LABELS, set="other", loader="1", inputs="1"), HERE, None),
    ],
)
def test_an_image_fits_or_it_is_said_why_not(labels: Labels, plain: Plain, reason: str | None) -> None:
    said = misfit(LoadedImage("loaded:1", "sha256:9", labels), MYSQL, plain)
    if reason is None:
        assert said is None
    else:
        assert said is not None
        with pytest.raises(BadInput, match=reason):
            raise BadInput(said)


def test_labels_are_read_as_they_were_written() -> None:
    assert Labels.read(LABELS.written()) == LABELS
    assert Labels.read({"bird-harness.inputs": "0"}) is None
    assert set(LABELS.written()) >= {loaded_images.SET_LABEL}


def test_what_data_are_bound_to_is_read_from_the_configuration() -> None:
    assert loaded_images.lasting_settings(MYSQL) == "lower_case_table_names = 1"
    assert loaded_images.lasting_settings(POSTGRESQL) == ""


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("9.7.4-2", "9.7.4"),
        ("18.6 (Debian 18.6-1)", "18.6"),
        ("/usr/sbin/mysqld  Ver 9.7.4-2 for debian-linux-gnu on x86_64 ((Debian))", "9.7.4"),
        ("postgres (PostgreSQL) 18.6 (Debian 18.6-1)", "18.6"),
        ("unknown", "unknown"),
    ],
)
def test_versions_are_compared_by_their_digits(said: str, version: str) -> None:
    assert loaded_images.digits(said) == version


def test_a_set_without_data_is_refused_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIRD_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = CliRunner().invoke(app, ["up", "--build", "--no-start", "--loaded", "--set", "mini_dev"])
    assert isinstance(result.exception, BadInput)
    assert str(tmp_path) in str(result.exception)
