"""Loading into MariaDB as into MySQL; a load uses `target`."""

from loaders.mysql import REFUSED_NUMBERS, REFUSED_TEXTS, namespace

__all__ = ["REFUSED_NUMBERS", "REFUSED_TEXTS", "namespace"]
