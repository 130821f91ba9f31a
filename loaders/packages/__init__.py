"""The published packages: fetched, checked, unpacked, and put where `harness.readers.question_sets` looks."""
