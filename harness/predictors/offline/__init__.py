"""A predictor that needs no key and no network: rules of English, linked to the schema."""

from harness.predictors.offline.predictor import OfflinePredictor, open_offline

__all__ = ["OfflinePredictor", "open_offline"]
