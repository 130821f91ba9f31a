"""Coverage on every version whose image is here, on a real Docker engine."""

from pathlib import Path

import pytest

from harness.coverage.matrix import MatrixRequest, Result, exit_code, run_matrix
from harness.provision.containers import docker, engine_answers
from harness.provision.server_kinds import cells
from loaders.server import Origin
from tests.reasons import Reason, skip

pytestmark = pytest.mark.engine


def test_images_on_this_machine_are_started_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not engine_answers():
        skip(Reason.NO_DOCKER, "the matrix runs what is there")
    monkeypatch.setenv("BIRD_PROVISION", Origin.TESTCONTAINERS)
    here = docker("image", "ls", "--format={{.Repository}}:{{.Tag}}").splitlines()
    expected = {(cell.dialect, cell.version) for cell in cells() if cell.image_here(here)}
    if not expected:
        skip(Reason.NO_DOCKER, "no image of a version that the matrix has")
    rows = run_matrix(MatrixRequest(sets=["sample"], limit=3, out=tmp_path), print)
    ran = {(row.dialect, row.version) for row in rows if row.result is Result.AS_EXPECTED}
    assert ran == expected
    assert [row.why for row in rows if row.result is Result.NOT_RUN and "docker pull" not in row.why] == []
    assert exit_code(rows) == 0
