"""Self-correction: an answer that does not run is shown its engine's error, and asked for again.

The engine's words are all that is told; whether rows are right is not known here
(`harness.predictors.trials`). The idea is that of execution feedback in Chen et al. 2023, "Teaching Large
Language Models to Self-Debug" (https://arxiv.org/abs/2304.05128).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from dialects.enums import Dialect
from harness.predictors.base import Asking, Message, Method, Problem, Prompt, Role
from harness.predictors.prompts.tokens import Tokens

Check = Callable[[Dialect, str, str], str | None]
"""What the engine of a dialect says against an SQL text for a question (its key); None where it runs."""


@dataclass(frozen=True)
class Corrected:
    """A method whose answers are corrected, at most `rounds` times.

    `take` takes the SQL out of a reply; `tell` spells the message that has the error (dialect, error; None
    where there was no SQL at all); `tokens` counts.
    """

    method: Method
    rounds: int
    check: Check
    take: Callable[[str], str | None]
    tell: Callable[[Dialect, str | None], str]
    tokens: Tokens

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the method, and how often it is corrected."""
        return {**self.method.identity, "corrections": self.rounds}

    def solve(self, problem: Problem, asking: Asking) -> str:
        """The first answer that runs, or the last one."""
        prompts: list[Prompt] = []

        def remembering(stage: str, prompt: Prompt) -> str:
            prompts.append(prompt)
            return asking(stage, prompt)

        text = self.method.solve(problem, remembering)
        for number in range(1, self.rounds + 1):
            sql = self.take(text)
            error = None if sql is None else self.check(problem.dialect, problem.question, sql)
            if sql is not None and error is None:
                break
            prompt = self._continued(prompts[-1], text, self.tell(problem.dialect, error))
            prompts.append(prompt)
            text = asking(f"correction-{number}", prompt)
        return text

    def _continued(self, prompt: Prompt, text: str, told: str) -> Prompt:
        turns = (Message(Role.ASSISTANT, text), Message(Role.USER, told))
        more = sum(self.tokens.count(turn.content) for turn in turns)
        return replace(prompt, messages=(*prompt.messages, *turns), tokens=prompt.tokens + more)
