"""What predictors are asked with: prompts and schemas, and the interface of a predictor."""
