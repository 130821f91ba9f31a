"""Turn SQL texts into judgements: look cached outcomes up and send the rest to the workers as tasks."""
