"""What asking needs: questions, engines with their databases, a problem for every question and dialect."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dialects.errors import BadInput
from harness.data.questions import QuestionSet
from harness.data.sets.loading import load_set
from harness.engines import EngineName, kind_of, kinds_by_name
from harness.predictors.adapters.settings import Settings
from harness.predictors.base import Method, Problem, PromptTooLong
from harness.predictors.budget import Budget
from harness.predictors.extraction import Taking
from harness.predictors.methods import first_prompt, make_method
from harness.predictors.prompts.prompter import PromptOptions, show
from harness.predictors.prompts.tokens import Tokens, token_counter
from harness.predictors.schema import describe, description_folder, read_database
from harness.session.plan import Equipped, equip
from harness.session.request import Request
from harness.session.request import check as check_request
from loaders.base.errors import within
from loaders.load import Progress

MOST_SAMPLES = 100
_MOST_CORRECTIONS = 100

Say = Callable[[str], None]


@dataclass(frozen=True)
class PredictRequest:
    """What is to be predicted, by whom and how.

    `request` says set, dialects, limit, workers, cache and data as for an evaluation. `predictor` is a spec
    (`harness.predictors.adapters`), `name` what the predictor is called; `out` the folder of its answers.
    `taking` None means what is usual for the kind of predictor. `samples` is how many answers each question
    gets, `corrections` how often one that does not run is asked for again.
    """

    request: Request
    predictor: str
    name: str
    out: Path
    settings: Settings = field(default_factory=Settings)
    budget: Budget = field(default_factory=Budget)
    method: str = "direct"
    options: PromptOptions = field(default_factory=PromptOptions)
    tokens: str | None = None
    taking: Taking | None = None
    samples: int = 1
    corrections: int = 0


@dataclass(frozen=True)
class WantedAnswers:
    """A request that has been found right: the questions, and the method with its templates.

    `whole` is the question set with the questions that a choice leaves out.
    """

    asked: PredictRequest
    whole: QuestionSet
    questions: QuestionSet
    tokens: Tokens
    method: Method


@dataclass(frozen=True)
class Ready:
    """Everything that asking needs but the predictor."""

    wanted: WantedAnswers
    equipped: Equipped
    problems: Sequence[Problem]

    @property
    def asked(self) -> PredictRequest:
        """What was asked for."""
        return self.wanted.asked

    @property
    def dialects(self) -> tuple[EngineName, ...]:
        """Those that are asked for and have an engine."""
        return tuple(self.equipped.setup.servers)


def check(asked: PredictRequest) -> WantedAnswers:
    """Refuse what cannot be done, before anything is started.

    Raises:
        BadInput: an option, the set, the method or its templates are wrong.
    """
    within("--samples", asked.samples, 1, MOST_SAMPLES)
    within("--corrections", asked.corrections, 0, _MOST_CORRECTIONS, "rounds")
    check_request(asked.request, out="--results")
    tokens = token_counter(asked.tokens)
    method = make_method(asked.method, asked.options, tokens)
    whole = load_set(asked.request.set_name, asked.request.bird_home)
    return WantedAnswers(asked, whole, asked.request.choice.of(whole), tokens, method)


def prepare(wanted: WantedAnswers, say: Say, progress: Progress | None = None) -> Ready:
    """Find the engines, load the databases, and make the problems.

    Raises:
        BadInput: descriptions are wrong.
        EngineUnavailable: an engine that was named is not up.
    """
    asked = wanted.asked
    for note in wanted.whole.notes:
        say(note)
    dialects = asked.request.dialects or tuple(kinds_by_name())
    equipped = equip(asked.request, wanted.questions, dialects, say=say, progress=progress)
    return Ready(wanted, equipped, _problems(asked.options, wanted.questions, equipped, say))


def show_prompt(asked: PredictRequest, key: str, say: Say) -> str:
    """The first prompt for a question in each dialect.

    Raises:
        BadInput: there is no such question.
        EngineUnavailable: an engine that was named is not up.
    """
    wanted = check(asked)
    whole = wanted.whole
    if key not in whole.by_key:
        raise BadInput(
            f"--show-prompt {key}: no question of {whole.name}; give the key of one, such as"
            f" {whole.questions[0].key}"
        )
    ready = prepare(replace(wanted, questions=replace(whole, questions=(whole.by_key[key],))), say)
    shown = []
    for problem in ready.problems:
        try:
            stage, prompt = first_prompt(wanted.method, problem)
        except PromptTooLong as too_long:
            shown.append(f"{problem.dialect}: {too_long.reason}\n")
        else:
            shown.append(f"{problem.dialect}, stage {stage}\n{show(prompt)}")
    return "\n".join(shown)


def _problems(options: PromptOptions, questions: QuestionSet, equipped: Equipped, say: Say) -> list[Problem]:
    """One for each question and dialect, in the order of the questions."""
    databases = {}
    for dialect in equipped.setup.servers:
        engine = equipped.setup.engine(dialect)
        for db_id in questions.db_ids:
            place = questions.database(db_id, equipped.request.profile)
            database = read_database(engine, place, rows=options.rows, kind=kind_of(dialect))
            databases[dialect, db_id] = database
            if options.descriptions:
                described = describe(database, description_folder(questions.databases, db_id))
                databases[dialect, db_id] = described.database
                for line in described.left_over if dialect == next(iter(equipped.setup.servers)) else ():
                    say(line)
    return [
        Problem(
            each.key,
            each.text,
            each.evidence if options.knowledge else "",
            databases[dialect, each.db_id],
        )
        for each in questions.questions
        for dialect in equipped.setup.servers
    ]
