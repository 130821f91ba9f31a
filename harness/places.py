"""Where the harness keeps what it fetches, what it has computed, and what its servers store.

Root's places are not root's own: PostgreSQL refuses to run as root, and the account that it runs as instead
must be able to enter them.
"""

import os
from pathlib import Path

import platformdirs

_ROOT_CACHE = Path("/var/cache/bird-harness")
_ROOT_STATE = Path("/var/lib/bird-harness")


def is_root() -> bool:
    """Whether servers have to be started as somebody else."""
    return os.geteuid() == 0


def cache() -> Path:
    """What can be fetched or computed again. `BIRD_CACHE` chooses another folder. Made if it is not there."""
    return _made(cache_path())


def cache_path() -> Path:
    """`cache`, which may not be there and may be impossible to make."""
    return _place("BIRD_CACHE", _ROOT_CACHE, platformdirs.user_cache_path("bird-harness"))


def state() -> Path:
    """What native servers store: data, passwords. `BIRD_STATE` chooses another folder."""
    return _made(_place("BIRD_STATE", _ROOT_STATE, platformdirs.user_state_path("bird-harness")))


def _place(variable: str, for_root: Path, for_user: Path) -> Path:
    chosen = os.environ.get(variable)
    default = for_root if is_root() else for_user
    return Path(chosen).expanduser().absolute() if chosen else default


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
