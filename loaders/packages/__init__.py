"""The published packages: fetched, checked, unpacked, and put where `harness.data.sets.loading` looks."""
