"""The published packages: fetched, checked, unpacked, and put where `harness.data.question_sets` looks."""
