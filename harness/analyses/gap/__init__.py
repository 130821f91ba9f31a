"""Why predictors score otherwise on another engine: explained by executions, one question at a time."""
