"""The published packages: fetched, checked, unpacked, and put where `harness.sets.loading` looks."""
