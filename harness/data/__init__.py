"""The published file formats, read strictly: what is not exactly right stops the run with one line."""
