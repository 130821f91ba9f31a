"""Turns SQL texts into judgements: looks up what is known, and has workers do the rest as tasks."""
