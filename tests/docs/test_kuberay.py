"""The example for KubeRay: the fields are those of its API, and one run fits the cluster that it asks for.

The schema is ours, of the fields that the example uses, after KubeRay's reference.
https://docs.ray.io/en/latest/cluster/kubernetes/references/api.html
"""

import shlex
from importlib.metadata import version
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # the checker's own
import yaml

from tests.docs.blocks import ROOT

JOB = yaml.safe_load((ROOT / "docs" / "examples" / "kuberay.yaml").read_text(encoding="utf-8"))
TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}


def closed(**members: dict[str, Any]) -> dict[str, Any]:
    """An object with these members and no other one."""
    return {
        "type": "object", "properties": members, "required": [*members], "additionalProperties": False
    }  # fmt: skip


def every(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


AMOUNTS = closed(cpu=TEXT, memory=TEXT)
CONTAINER = closed(
    name=TEXT, image=TEXT, env=every(closed(name=TEXT, value=TEXT)),
    resources=closed(requests=AMOUNTS, limits=AMOUNTS),
    volumeMounts=every(closed(name=TEXT, mountPath=TEXT)),
)  # fmt: skip
VOLUME = closed(name=TEXT, persistentVolumeClaim=closed(claimName=TEXT))
POD = closed(spec=closed(containers=every(CONTAINER), volumes=every(VOLUME)))
PARAMETERS = {"type": "object", "additionalProperties": TEXT}
GROUP = closed(
    groupName=TEXT,
    replicas=COUNT,
    minReplicas=COUNT,
    maxReplicas=COUNT,
    rayStartParams=PARAMETERS,
    template=POD,
)
SCHEMA = closed(
    apiVersion={"const": "ray.io/v1"},
    kind={"const": "RayJob"},
    metadata=closed(name=TEXT),
    spec=closed(
        entrypoint=TEXT,
        shutdownAfterJobFinishes={"type": "boolean"},
        rayClusterSpec=closed(
            rayVersion=TEXT,
            headGroupSpec=closed(rayStartParams=PARAMETERS, template=POD),
            workerGroupSpecs=every(GROUP),
        ),
    ),
)


def test_the_example_has_the_fields_of_a_ray_job() -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(JOB)


def test_the_run_fits_its_cluster() -> None:
    cluster, words = JOB["spec"]["rayClusterSpec"], shlex.split(JOB["spec"]["entrypoint"])
    assert cluster["rayVersion"] == version("ray")
    [group] = cluster["workerGroupSpecs"]
    [container] = group["template"]["spec"]["containers"]
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == 2
    processors = group["replicas"] * int(container["resources"]["limits"]["cpu"])
    assert int(words[words.index("--workers") + 1]) == processors
    assert group["template"] == cluster["headGroupSpec"]["template"], (
        "every node has the same versions and files"
    )
    assert words[:2] == ["bird-harness", "eval"]
