"""Views of results: every table is computed from the outcomes of a run, and from nothing else."""
