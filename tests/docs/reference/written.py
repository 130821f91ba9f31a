"""How the pages are renewed, which each of them says at its beginning."""

COMMAND = "python -m tests.docs.reference"
WRITTEN = f"<!-- Written by `{COMMAND}` from the code. -->\n"
