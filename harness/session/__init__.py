"""From what a user asks for to results: the plan of a run, its evaluation, and the library's evaluator."""
