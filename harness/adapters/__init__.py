"""Adapters to the frameworks where models are trained and evaluated; each needs the extra of its name."""
