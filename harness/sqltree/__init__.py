"""SQL texts read for reports: Spider's measures, error classes, constructs. Nothing here executes a text."""
