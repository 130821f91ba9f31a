"""The run folder: written line by line while a run goes on, completed or resumed, and read back."""
