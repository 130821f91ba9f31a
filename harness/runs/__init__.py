"""The run folder: written line by line during a run, completed or resumed, and read back."""
