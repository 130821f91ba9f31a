"""Renews the pages, or with `--check` says which are stale."""

import sys

from tests.docs.reference import main

sys.exit(main(sys.argv[1:]))
