"""A small benchmark of the project's own, in the published file formats: it needs no download and no server.

The README beside this file describes the content and its conventions.
"""

from pathlib import Path

from loaders.sample.building import build, sample_folder

PREDICTIONS = Path(__file__).with_name("predictions")
"""The folder of the bundled prediction files of two made-up baselines, in the official format."""

__all__ = ["PREDICTIONS", "build", "sample_folder"]
