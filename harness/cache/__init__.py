"""What is known from earlier runs: how it is written, where it is kept, and what never is."""
