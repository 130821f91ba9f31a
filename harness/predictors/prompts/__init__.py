"""What a model is told: templates, what fills them, and what is left out where it would be too long."""
