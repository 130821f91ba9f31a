"""An endpoint's predictor for tests, with a key in the environment and nothing else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from harness.predictors.adapters.common import Settings
from harness.predictors.adapters.endpoints import EndpointPredictor, Service
from harness.predictors.base import BudgetSpent, PredictorBroken, Reply, RequestFailed
from harness.predictors.budget import Meter
from tests.harness.predictors.adapters.endpoint_server import EndpointServer
from tests.harness.predictors.making import ask

KEY = "sk-proj-5kEyTh4tN0b0dyMayS33/x+y"
ANSWERS = {"How many?": "SELECT 42"}
SOON = "0.01"


@contextmanager
def asking(
    server: EndpointServer, meter: Meter | None = None, service: Service = Service.OPENAI, **settings: Any
) -> Iterator[EndpointPredictor]:
    given = Settings(**{"base_url": server.base_url, "retries": 1, "timeout": 20.0, **settings})
    predictor = EndpointPredictor(service, "m-1", given, meter or Meter())
    try:
        yield predictor
    finally:
        predictor.close()


def failure(server: EndpointServer, meter: Meter | None = None, **settings: Any) -> RequestFailed:
    with asking(server, meter, **settings) as predictor, pytest.raises(RequestFailed) as raised:
        predictor.ask(ask())
    return raised.value


def asked_by_many(predictor: EndpointPredictor, count: int) -> list[Reply | Exception]:
    def one(number: int) -> Reply | Exception:
        try:
            return predictor.ask(ask(str(number)))
        except (RequestFailed, BudgetSpent, PredictorBroken) as error:
            return error

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(one, range(count)))
