"""Judges on a Ray cluster: `bird-harness eval --ray ADDRESS`."""

from harness.lab import Lab

LAB = Lab(name="ray", options={"ray": "harness.labs.ray.ray_workers:RayWorkers"})
