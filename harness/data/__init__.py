"""Question sets, questions, golds and predictions, read strictly, and what comes of a pair."""
