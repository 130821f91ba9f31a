"""What an answer costs an engine, and what makes it cost less: rewriting, indexes, and the study of both."""
