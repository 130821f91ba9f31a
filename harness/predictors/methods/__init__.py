"""The methods by name: how a problem becomes asks."""

from collections.abc import Callable, Mapping

from dialects.errors import BadInput
from harness.predictors.base import Method, Problem, Prompt
from harness.predictors.methods.direct import Direct
from harness.predictors.methods.ta_sql import TaSql
from harness.predictors.prompts.prompter import Options, Prompter, open_prompter
from harness.predictors.prompts.tokens import ESTIMATE, Tokens

METHODS: Mapping[str, Callable[[Prompter], Method]] = {"direct": Direct, "ta-sql": TaSql}


def make_method(name: str, options: Options, tokens: Tokens = ESTIMATE) -> Method:
    """The method of that name.

    Raises:
        BadInput: there is none, it cannot follow the options, or the user's templates are wrong.
    """
    if name not in METHODS:
        raise BadInput(f"--method {name}: there is none; choose {' or '.join(METHODS)}")
    if name == "ta-sql" and options.chain_of_thought:
        raise BadInput("--method ta-sql: reasons in stages of its own; leave chain of thought out")
    return METHODS[name](open_prompter(options, tokens))


class _Asked(Exception):
    def __init__(self, stage: str, prompt: Prompt) -> None:
        super().__init__(stage)
        self.asked = stage, prompt


def first_prompt(method: Method, problem: Problem) -> tuple[str, Prompt]:
    """The stage and prompt of a method's first ask; nobody is asked.

    Raises:
        PromptTooLong: it cannot be made short enough.
    """

    def stop(stage: str, prompt: Prompt) -> str:
        raise _Asked(stage, prompt)

    try:
        method.solve(problem, stop)
    except _Asked as asked:
        return asked.asked
    raise AssertionError("a method asks at least once")
