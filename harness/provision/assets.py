"""Where the container and configuration files of the project lie: in the wheel, or at the checkout's root."""

from pathlib import Path

_PACKAGED = Path(__file__).with_name("assets")
_CHECKOUT = Path(__file__).parents[2]


def folder() -> Path:
    """The folder that holds `docker-compose.yml` and `docker/`."""
    return _CHECKOUT if is_checkout() else _PACKAGED


def is_checkout() -> bool:
    """Whether the project runs from its own source tree."""
    return not _PACKAGED.is_dir()
