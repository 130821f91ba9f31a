"""Measurements against a peer in the same run, as ratios of medians."""
