"""The reply in what a model returned: without the marks of chat templates, other turns and reasoning."""

import re
from dataclasses import dataclass

from harness.data.answers.documents import unquote

BIRD = "\t----- bird -----\t"
"""What separates SQL and database in the official prediction files."""
_ROLES = "system|developer|user|human|assistant|chatbot|model|gpt|bot|tool|ipython|observation|function"
_MARK = re.compile(
    r"<[|\uff5c](?P<name>[^<>|\uff5c\n]{1,40}+)[|\uff5c]>|"
    r"(?P<opens><start_of_turn>)|"
    r"(?P<ends></s>(?=\s|<|\Z)|<end_of_turn>|<(?:eos|EOS|EOT|pad|PAD|end_of_utterance|_end|\|?endoftext\|?)>"
    r"|\[EOS\]|<0x00>)|"
    r"(?P<begins><s>(?=\s|\[|<|\Z)|<bos>)|(?P<inst>\[/?INST\])|(?P<sys><</?SYS>>)"
)
_ENDS = frozenset({
    "im_end", "eot_id", "return", "end", "endoftext", "end_of_text", "eot", "eom_id", "end_of_turn", "eom",
    "end_of_sentence", "end_of_turn_token", "call", "end_response", "end_of_solution", "endofresponse",
    "eos", "im_sep_end", "end_of_message", "endofpiece", "eod", "diff_marker", "end_header",
})  # fmt: skip
_OPENS = frozenset({"im_start", "start_header_id", "header_start", "start_of_role", "start"})
_MESSAGE = frozenset({"message", "end_header_id", "header_end", "end_of_role", "im_sep"})
_OTHERS = frozenset({
    "user", "system", "tool", "observation", "human", "developer", "user_token", "system_token", "ipython",
    "tool_response", "prompter", "context", "question",
})  # fmt: skip
_OWN = frozenset({"assistant", "chatbot_token", "model", "bot", "python_tag", "gpt", "answer"})
_OWN_ROLES = frozenset({"assistant", "chatbot", "model", "gpt", "bot"})
_CHANNELS_OF_THOUGHT = frozenset({"analysis", "thought", "thinking"})
_ROLE = re.compile(rf"[ \t]*+(?P<role>{_ROLES})\b[ \t]*+\n?", flags=re.IGNORECASE)
_CHANNEL = re.compile(r"[ \t]*+(?P<channel>\w++)[^\n<]*+")
_SAID = re.compile(r"\s*+(?:assistant|model|chatbot|AI|bot)[ \t]*+(?::|\uff1a|\r?\n)", flags=re.IGNORECASE)
_GLUED = re.compile(r"(?<=\S)assistant\r?\n\r?\n")
_HARMONY = re.compile(r"analysis(?=[A-Z\"'])")
_FINAL = "assistantfinal"

_THOUGHTS = (
    r"think|thinking|thoughts?|reason|reasoning|reflection|scratchpad|analysis|planning|plan|cot|rationale|"
    r"explanation|draft|seed:think|unused94|schema_linking|critique|evaluation"
)
_REASONING = re.compile(
    rf"<(?P<closing>/?)(?P<tag>{_THOUGHTS})(?:[ \t][^<>\n]*+)?+>|\[(?P<closing2>/?)(?P<tag2>think)\]|"
    r"◁(?P<closing3>/?)(?P<tag3>think)▷",
    flags=re.IGNORECASE,
)
_TOKENS_OF_THOUGHT = {
    "start_thinking": "<think>", "end_thinking": "</think>", "begin_of_thought": "<think>",
    "end_of_thought": "</think>", "think": "<think>", "/think": "</think>", "begin_of_think": "<think>",
    "end_of_think": "</think>",
}  # fmt: skip
_LONGEST_LITERAL = 100
_LITERAL_ENDS = re.compile(rf"[^'\n]{{0,{_LONGEST_LITERAL}}}+'(?=[\s),;|\]`\"]|\Z)")
_CLOSED = re.compile(r"</(?P<tag>answer|final_answer|solution)>\s*+\Z", re.IGNORECASE)
_QUOTED = re.compile(r"(?:^[ \t]{0,3}>[^\n]*+(?:\n|\Z))++", flags=re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]{0,3}>[ \t]?", flags=re.MULTILINE)
_ESCAPED = re.compile(r"[^\"'\\\n]*+\\n(?![b-eg-rtuvx-z])(?:[^\\\n]++|\\[nrt\"'\\])*+\Z", flags=re.DOTALL)
"""A text of one line whose line breaks are written as `\\n`, before any quote."""
_ESCAPE = re.compile(r"\\([nrt\"'\\])")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_PROMPT = re.compile(
    r"^(?:(?:sqlite|mysql)>|MariaDB \[[^\]\n]{0,60}+\]>|\w++=[#>])[ \t]", flags=re.MULTILINE | re.IGNORECASE
)
_PROMPT_GOES_ON = re.compile(r"^(?:[ \t]*+(?:\.\.\.|-|')>|\w++[-(][#>])(?:[ \t]|$)", flags=re.MULTILINE)
"""What a database's client writes before a statement's further lines."""
_WORTH = re.compile(
    r"^(?:[ \t]*+(?:```|~~~|--|/\*|(?:SELECT|WITH)\b|VALUES[ \t]*+\(|<\w++>|\{))",
    flags=re.MULTILINE | re.IGNORECASE,
)


def visible(text: str) -> str:
    """Return what a model said as its answer; empty if it was cut off before that.

    - Of several turns, the first of the assistant's counts, up to the next one of anybody else.
    - Reasoning in tags or channels is left out; where it was cut off, all that follows is.
    - A text that is one JSON string stands for what that holds, and so does one of one line with escaped
      line breaks.
    - The prompts of a database's client are left out of a statement's further lines.
    - Quoted lines that hold a query or a fence are unquoted.
    """
    text = text.lstrip("\ufeff\u200b\u2060").partition(BIRD)[0]
    text = unquote(text) or text
    if "\\n" in text and _ESCAPED.match(text.strip()):
        text = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text)
    text = _without_reasoning(_turn(text))
    if said := _SAID.match(text):
        text = text[said.end() :]
    text = _GLUED.sub("\n\n", text)
    if _HARMONY.match(text):
        _, found, text = text.rpartition(_FINAL)
        text = text if found else ""
    if _PROMPT.search(text):
        text = _PROMPT_GOES_ON.sub("", text)
    return _unquoted(text) if ">" in text else text


@dataclass
class _Segment:
    """What one side said; `channel` of gpt-oss, or empty."""

    side: str
    channel: str = ""
    text: str = ""


_ASSISTANT, _OTHER, _NOBODY = "assistant", "other", ""


def _turn(text: str) -> str:
    """Return what the assistant said in its first turn, without marks."""
    segments = [_Segment(_ASSISTANT)]
    at = 0
    for mark in _MARK.finditer(text):
        if mark.start() < at:
            continue
        segments[-1].text += text[at : mark.start()]
        begun, at = _begun(mark, text)
        if isinstance(begun, _Segment):
            segments.append(begun)
        else:
            segments[-1].text += begun
    segments[-1].text += text[at:]
    return _first_turn(segments)


def _begun(mark: re.Match[str], text: str) -> tuple[_Segment | str, int]:
    """Return what a mark begins, or the text that it stands for; and where to read on."""
    name = (mark["name"] or "").strip().lower().replace("▁", "_").replace(" ", "_")
    if name in _TOKENS_OF_THOUGHT:
        return _TOKENS_OF_THOUGHT[name], mark.end()
    if mark["ends"] or name in _ENDS:
        return _Segment(_NOBODY), mark.end()
    if mark["opens"] or name in _OPENS:
        role = _ROLE.match(text, mark.end())
        is_own = role is None or role["role"].lower() in _OWN_ROLES
        return _Segment(_ASSISTANT if is_own else _OTHER), role.end() if role else mark.end()
    if name == "channel":
        channel = _CHANNEL.match(text, mark.end())
        named = channel["channel"].lower() if channel else ""
        return _Segment(_ASSISTANT, named), channel.end() if channel else mark.end()
    is_other = name in _OTHERS or mark["inst"] == "[INST]" or mark["sys"] is not None
    if is_other or name in _OWN or mark["inst"]:
        return _Segment(_OTHER if is_other else _ASSISTANT), mark.end()
    return "" if name in _MESSAGE or mark["begins"] else "\n", mark.end()


def _first_turn(segments: list[_Segment]) -> str:
    said: list[_Segment] = []
    is_begun = False
    for segment in segments:
        if segment.side == _OTHER and is_begun:
            break
        if segment.side == _ASSISTANT or (segment.side == _NOBODY and not is_begun):
            said.append(segment)
            is_begun = is_begun or bool(segment.text.strip())
    if any(one.channel for one in said):
        final = [one for one in said if one.channel == "final"]
        said = final or [one for one in said if one.channel not in _CHANNELS_OF_THOUGHT]
    return "\n\n".join(one.text for one in said if one.text.strip())


def _without_reasoning(answer: str) -> str:
    """Remove pairs of tags, all up to the last closing tag, and all from the first opening one."""
    tags = [tag for tag in _REASONING.finditer(answer) if not _is_literal(answer, tag)]
    closes: dict[str, int] = {}
    closed_at: dict[int, int] = {}
    for tag in reversed(tags):
        name = _name(tag)
        if _closes(tag):
            closes[name] = tag.end()
        elif name in closes:
            closed_at[tag.start()] = closes[name]
    kept: list[str] = []
    at, is_cut_off = 0, False
    for tag in tags:
        if tag.start() < at:
            continue
        if _closes(tag):  # the opening tag was part of the prompt
            kept, at, is_cut_off = [], tag.end(), False
            continue
        if not is_cut_off:
            kept.append(answer[at : tag.start()])
        at = closed_at.get(tag.start(), tag.end())
        is_cut_off = is_cut_off or tag.start() not in closed_at
    if not is_cut_off:
        return "".join([*kept, answer[at:]])
    return _answered_at_the_end(answer) or "".join(kept)


def _is_literal(text: str, tag: re.Match[str]) -> bool:
    """True if a tag is in a literal of SQL, within its line."""
    opens = text.rfind("'", max(0, tag.start() - _LONGEST_LITERAL), tag.start())
    if opens < 0 or "\n" in text[opens : tag.start()]:
        return False
    is_opened = opens == 0 or text[opens - 1] in " \t\n(,=<>|!"
    return is_opened and _LITERAL_ENDS.match(text, tag.end()) is not None


def _answered_at_the_end(answer: str) -> str:
    """Return the answer's tag that ends a text, whose reasoning lacks its closing tag."""
    closed = _CLOSED.search(answer)
    if closed is None:
        return ""
    opened = answer.lower().rfind(f"<{closed['tag'].lower()}>", 0, closed.start())
    return answer[opened:] if opened >= 0 else ""


def _name(tag: re.Match[str]) -> str:
    return (tag["tag"] or tag["tag2"] or tag["tag3"]).lower()


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["closing"] or tag["closing2"] or tag["closing3"])


def _unquoted(text: str) -> str:
    """Remove the marks of quoted lines that hold a query or a fence."""

    def plain(lines: re.Match[str]) -> str:
        said = _QUOTE.sub("", lines[0])
        return said if _WORTH.search(said) else lines[0]

    return _QUOTED.sub(plain, text)
