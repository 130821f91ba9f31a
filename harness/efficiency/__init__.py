"""What an answer costs an engine, and what makes it cost less: rewriting and indexes."""
