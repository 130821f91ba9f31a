"""From results to figures: pure functions that every view and `summary.json` share."""
