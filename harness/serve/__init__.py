"""Serve scores over HTTP: a reward server for training, and its client. Needs the extra `serve`."""
