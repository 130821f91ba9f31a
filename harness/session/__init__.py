"""Turn a user's request into results: the plan of a run, its evaluation, and the library's evaluator."""
