"""The schema of a database as a model is told it: in its engine's own words, with what is published of it."""
