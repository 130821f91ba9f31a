"""From SQL texts to judgements: what is known is looked up, the rest is put on tasks and judged."""
