"""A predictor that needs no key and no network: a handful of templates over the words of a question."""

from harness.predictors.offline.predictor import OfflinePredictor, open_offline

__all__ = ["OfflinePredictor", "open_offline"]
