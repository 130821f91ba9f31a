"""Read question sets, golds and predictions strictly, and define the outcomes of a pair."""
