"""The page on which a person decides about findings: one file, which asks for nothing from outside.

Decisions stay in the browser until they are downloaded as a gold pack. Data stand in the page as JSON without
a character that markup is made of; script and style are named by their digests in the page's policy.
"""

import json
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from harness.audit.command import Audited
from harness.audit.finding import FoundIn
from harness.audit.probes import PROBES
from harness.engines import TITLES
from harness.report.html.page import policy

_PLACE = files("harness.audit")


def page(audited: Audited) -> str:
    """The page of an audit."""
    style, script = (_read(name) for name in ("page.css", "page.js"))
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(
        _read("page.html.jinja")
    )
    return template.render(
        title=f"Golds of {audited.questions.name}",
        policy=policy(style, script),
        style=Markup(style),  # noqa: S704 - the project's own
        script=Markup(script),  # noqa: S704 - the project's own
        data=Markup(_harmless(_content(audited))),  # noqa: S704 - without a character of markup
    )


@cache
def _read(name: str) -> str:
    return (_PLACE / name).read_text(encoding="utf-8").strip()


def _harmless(content: Any) -> str:
    text = json.dumps(content, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _content(audited: Audited) -> Any:
    shared = Counter(question.question_id for question in audited.questions.questions)
    return {
        "set": audited.questions.name,
        "probes": {probe.name: probe.finds for probe in PROBES.values()},
        "findings": [_entry(one, is_shared=shared[one.question_id] > 1) for one in audited.findings],
    }


def _entry(one: FoundIn, *, is_shared: bool) -> Any:
    key = one.question if "#" in one.question else f"{one.question}#1"
    return {
        **one.to_json(),
        "engine": TITLES[one.dialect],
        "pack_id": key if is_shared else one.question_id,
    }
