"""How much a pattern does with a text, counted: the same figure on every machine.

Python's `re` backtracks and does not say how often. This is a matcher of the same kind, slow and with a
counter: patterns, as Python's own parser reads them, become instructions for a machine with a stack of
choices. Every instruction is a step.
https://swtch.com/~rsc/regexp/regexp2.html
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_GROUP = re.compile(r"\(GROUPREF, (\d+)\)")

MOST_REPEATS = 400
"""Counted repetitions are written out so often at most; longer ones count as unbounded."""


class TooMuch(Exception):
    """A text took more steps than were allowed."""


@dataclass
class _Instruction:
    kind: str
    """char, split, jump, save, mark, moved, at, look, atomic, same or end."""
    first: int = 0
    second: int = 0
    fits: Callable[[str], bool] | None = None
    known: dict[str, bool] = field(default_factory=dict)
    """What `fits` has said of characters."""
    inner: "list[_Instruction] | None" = None
    is_wanted: bool = True
    width: int | None = None
    """How far behind a look begins; None for one ahead."""


class Machine:
    """The instructions of a pattern."""

    def __init__(self, pattern: "re.Pattern[Any]") -> None:
        self._is_bytes = isinstance(pattern.pattern, bytes)
        self.tree = _parser.parse(pattern.pattern, pattern.flags)
        self._characters: dict[tuple[str, int], dict[str, bool]] = {}
        self._marks = 0
        self._named = {int(group) for group in _GROUP.findall(repr(self.tree))}
        self._code = self._compiled(self.tree, pattern.flags)

    def work(self, text: str, *, anchored: bool, most: int = 5_000_000) -> int:
        """The steps that it takes to find all matches in a text, or, anchored, one at its beginning.

        Raises:
            TooMuch: they are more than `most`.
        """
        self._left = most
        place = 0
        while place <= len(text):
            end = self._run(self._code, text, place, {})
            if anchored:
                break
            place = end if end is not None and end > place else place + 1
        return most - self._left

    def _run(self, code: list[_Instruction], text: str, start: int, saved: dict[int, int]) -> int | None:  # noqa: C901, PLR0912, PLR0915 - a case for each kind
        """Where the match at `start` ends; None if there is none. Groups of atomic parts are kept."""
        stack: list[tuple[int, int, dict[int, int]]] = [(0, start, saved)]
        size, left = len(text), self._left
        while stack:
            at, place, state = stack.pop()
            while True:
                left -= 1
                if left < 0:
                    raise TooMuch
                one = code[at]
                at += 1
                # The two that are most of all steps come first.
                match one.kind:
                    case "char":
                        if place >= size:
                            break
                        if (fits := one.known.get(text[place])) is None:
                            assert one.fits is not None
                            fits = one.fits(text[place])
                        if not fits:
                            break
                        place += 1
                    case "split":
                        stack.append((one.second, place, state))
                        at = one.first
                    case "jump":
                        at = one.first
                    case "save" | "mark":
                        state = {**state, one.first: place}
                    case "moved":
                        if state[one.first] == place:
                            break
                    case "at":
                        if not _is_at(one.first, text, place):
                            break
                    case "look":
                        assert one.inner is not None
                        begin = place if one.width is None else place - one.width
                        self._left = left
                        found = None if begin < 0 else self._run(one.inner, text, begin, state)
                        left = self._left
                        if (found is not None) is not one.is_wanted:
                            break
                    case "atomic":
                        assert one.inner is not None
                        self._left = left
                        found = self._run(one.inner, text, place, state)
                        left = self._left
                        if found is None:
                            break
                        place = found
                    case "same":
                        begin, end = state.get(2 * one.first, 0), state.get(2 * one.first + 1, 0)
                        if not text.startswith(text[begin:end], place):
                            break
                        place += end - begin
                    case _:
                        saved.update(state)
                        self._left = left
                        return place
        self._left = left
        return None

    def _compiled(self, tree: Sequence[tuple[Any, Any]], flags: int) -> list[_Instruction]:
        code: list[_Instruction] = []
        self._write(code, tree, flags)
        return [*code, _Instruction("end")]

    def _write(self, code: list[_Instruction], tree: Sequence[tuple[Any, Any]], flags: int) -> None:  # noqa: C901, PLR0912 - a case for each kind
        for operation, value in tree:
            match str(operation):
                case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                    code.append(
                        _Instruction(
                            "char",
                            fits=self.fits(operation, value, flags),
                            known=self._characters[repr((str(operation), value)), flags],
                        )
                    )
                case "BRANCH":
                    self._write_branch(code, value[1], flags)
                case "SUBPATTERN":
                    group, added, removed, inner = value
                    # Others need not be known, and knowing them takes time.
                    if group in self._named:
                        code.append(_Instruction("save", 2 * group))
                    self._write(code, inner, (flags | added) & ~removed)
                    if group in self._named:
                        code.append(_Instruction("save", 2 * group + 1))
                case "MAX_REPEAT" | "MIN_REPEAT":
                    least, most, inner = value
                    self._write_repeat(
                        code, least, most, inner, flags, is_lazy=str(operation) == "MIN_REPEAT"
                    )
                case "POSSESSIVE_REPEAT":
                    least, most, inner = value
                    part: list[_Instruction] = []
                    self._write_repeat(part, least, most, inner, flags, is_lazy=False)
                    code.append(_Instruction("atomic", inner=[*part, _Instruction("end")]))
                case "ATOMIC_GROUP":
                    code.append(_Instruction("atomic", inner=self._compiled(value, flags)))
                case "ASSERT" | "ASSERT_NOT":
                    direction, inner = value
                    width = None if direction > 0 else inner.getwidth()[0]
                    wanted = str(operation) == "ASSERT"
                    code.append(
                        _Instruction(
                            "look", inner=self._compiled(inner, flags), is_wanted=wanted, width=width
                        )
                    )
                case "AT":
                    name = str(value)
                    if name == "AT_BEGINNING" and flags & re.MULTILINE:
                        name = "AT_BEGINNING_LINE"
                    if name == "AT_END" and flags & re.MULTILINE:
                        name = "AT_END_LINE"
                    code.append(_Instruction("at", _PLACES.index(name)))
                case "GROUPREF":
                    code.append(_Instruction("same", value))
                case other:
                    raise NotImplementedError(other)

    def _write_branch(self, code: list[_Instruction], branches: Sequence[Any], flags: int) -> None:
        jumps = []
        for branch in branches[:-1]:
            split = _Instruction("split", len(code) + 1)
            code.append(split)
            self._write(code, branch, flags)
            jumps.append(_Instruction("jump"))
            code.append(jumps[-1])
            split.second = len(code)
        self._write(code, branches[-1], flags)
        for jump in jumps:
            jump.first = len(code)

    def _write_repeat(  # noqa: PLR0913 - what a repetition has
        self, code: list[_Instruction], least: int, most: Any, inner: Any, flags: int, *, is_lazy: bool
    ) -> None:
        for _ in range(least):
            self._write(code, inner, flags)
        is_bounded = int(most) <= MOST_REPEATS
        ends = []
        for _ in range(int(most) - least if is_bounded else 1):
            split = _Instruction("split")
            code.append(split)
            begin = len(code)
            if can_be_empty := inner.getwidth()[0] == 0:
                self._marks += 1
                code.append(_Instruction("mark", -self._marks))
            mark = self._marks
            self._write(code, inner, flags)
            if can_be_empty:
                code.append(_Instruction("moved", -mark))
            if not is_bounded:
                code.append(_Instruction("jump", begin - 1))
            ends.append((split, begin))
        for split, begin in ends:
            split.first, split.second = (len(code), begin) if is_lazy else (begin, len(code))

    def fits(self, operation: Any, value: Any, flags: int) -> Callable[[str], bool]:
        state = _parser.State()
        state.flags = flags
        state.str = b"" if self._is_bytes else ""
        one = _compiler.compile(_parser.SubPattern(state, [(operation, value)]), flags)
        known = self._characters.setdefault((repr((str(operation), value)), flags), {})

        def fits(character: str) -> bool:
            if character not in known:
                given = character.encode("latin-1", "replace") if self._is_bytes else character
                known[character] = one.fullmatch(given) is not None
            return known[character]

        return fits


_PLACES = (
    "AT_BEGINNING",
    "AT_BEGINNING_STRING",
    "AT_BEGINNING_LINE",
    "AT_END",
    "AT_END_STRING",
    "AT_END_LINE",
    "AT_BOUNDARY",
    "AT_NON_BOUNDARY",
)


def _is_at(number: int, text: str, place: int) -> bool:
    match _PLACES[number]:
        case "AT_BEGINNING" | "AT_BEGINNING_STRING":
            return place == 0
        case "AT_BEGINNING_LINE":
            return place == 0 or text[place - 1] == "\n"
        case "AT_END":
            return place == len(text) or text[place:] == "\n"
        case "AT_END_STRING":
            return place == len(text)
        case "AT_END_LINE":
            return place == len(text) or text[place] == "\n"
    before = place > 0 and (text[place - 1].isalnum() or text[place - 1] == "_")
    after = place < len(text) and (text[place].isalnum() or text[place] == "_")
    return (before != after) is (_PLACES[number] == "AT_BOUNDARY")
