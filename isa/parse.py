"""Assembly text -> operands.  The one grammar for what the disassembler prints and for what programs record.

Register numbers are written as `_` in a pattern (`v_.4s, v_.4s, v_.s[1]`), so that instructions which differ in
registers only share one pattern; the numbers are handed in beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from isa.errors import LanewiseError
from isa.operands import (
    CONDITIONS,
    ELEMENT_BITS,
    Address,
    Condition,
    Element,
    Extended,
    FloatImmediate,
    General,
    Immediate,
    Index,
    Name,
    Operand,
    RegisterList,
    Scalar,
    Shifted,
    Vector,
)

REGISTER = re.compile(r"\b([vqdshbxw])(\d+)\b")
_BLANK = re.compile(r"\b([vqdshbxw])_")
_VECTOR = re.compile(r"v_\.(\d+)([bhsdq])")
_NUMBER = r"0x[0-9a-f]+|\d+"
_ELEMENT = re.compile(rf"v_\.(\d*)([bhsd])\[({_NUMBER})\]")
_LISTED_ELEMENT = re.compile(r"v_\.([bhsd])")
_FLOAT = re.compile(r"#(-?\d+\.\d+)")
_IMMEDIATE = re.compile(rf"#(-?(?:{_NUMBER}))")
_MODIFIER = re.compile(rf"(lsl|lsr|asr|ror|msl|[us]xt[bhwx])(?: #({_NUMBER}))?")
_LIST = re.compile(rf"\{{(.*)\}}(?:\[({_NUMBER})\])?")
_FIXED = {
    "sp": General(None, 64, "sp"),
    "wsp": General(None, 32, "sp"),
    "xzr": General(None, 64, "zero"),
    "wzr": General(None, 32, "zero"),
}


class ParseError(LanewiseError, ValueError):
    """An operand that the grammar does not know; the message names it."""


def blank_registers(text: str) -> tuple[str, tuple[int, ...]]:
    """The text with its register numbers blanked, and the numbers in order."""
    numbers = tuple(int(number) for _, number in REGISTER.findall(text))
    return REGISTER.sub(r"\1_", text), numbers


def fill_registers(text: str, numbers: Sequence[int]) -> str:
    """The reverse of `blank_registers`."""
    order = iter(numbers)
    return _BLANK.sub(lambda match: f"{match[1]}{next(order)}", text)


def parse(text: str, registers: Sequence[Index]) -> tuple[Operand, ...]:
    """The operands of a pattern, with `registers` for its blanks in order.  Raises ParseError."""
    if len(_BLANK.findall(text)) > len(registers):
        raise ParseError("a register has no number")
    numbers = iter(registers)
    operands: list[Operand] = []
    for part in _split(text):
        modifier = _MODIFIER.fullmatch(part)
        if modifier and operands:
            last, kind, amount = operands[-1], modifier[1], _number(modifier[2] or "0")
            if isinstance(last, Immediate):
                operands[-1] = Immediate(last.number, kind, amount)
            elif isinstance(last, General):
                operands[-1] = _modified_register(last, kind, amount)
            else:
                raise ParseError(f"{kind} cannot follow {last.shape}")
            continue
        operand = _operand(part, numbers)
        if operands and isinstance(operands[-1], Address) and isinstance(operand, Immediate | General):
            operands[-1] = operands[-1].post_indexed(operand)
        else:
            operands.append(operand)
    return tuple(operands)


def _split(text: str) -> list[str]:
    """The parts between the commas that stand outside of brackets."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _operand(part: str, numbers: Iterator[Index]) -> Operand:
    if part in _FIXED:
        return _FIXED[part]
    if part in ("x_", "w_"):
        return General(next(numbers), 64 if part == "x_" else 32)
    if part in ("q_", "d_", "s_", "h_", "b_"):
        return Scalar(next(numbers), part[0])
    if part.startswith("["):
        return _address(part, numbers)
    if match := _LIST.fullmatch(part):
        return _register_list(match[1], match[2], numbers)
    if match := _VECTOR.fullmatch(part):
        return Vector(next(numbers), int(match[1]), match[2])
    if match := _ELEMENT.fullmatch(part):
        return _element(next(numbers), match[2], _number(match[3]), int(match[1] or 1))
    if match := _IMMEDIATE.fullmatch(part):
        return Immediate(_number(match[1]))
    if match := _FLOAT.fullmatch(part):
        return FloatImmediate(float(match[1]))
    if part in CONDITIONS:
        return Condition(part)
    if re.fullmatch(r"[vqdshbxw]", part):
        raise ParseError(f"operand {part!r} is a register without its number")
    if re.fullmatch(r"\w+", part):
        return Name(part)
    raise ParseError(f"operand {part!r} is not understood")


def _number(text: str) -> int:
    return int(text, 16 if "0x" in text else 10)


def _modified_register(base: General, kind: str, amount: int) -> Shifted | Extended:
    return Extended(base, kind, amount) if "xt" in kind else Shifted(base, kind, amount)


def _address(part: str, numbers: Iterator[Index]) -> Address:
    inner = _split(part.removesuffix("!")[1:-1])
    base = _operand(inner[0], numbers) if inner else None
    if not isinstance(base, General):
        raise ParseError(f"address {part!r} has no general register as its base")
    mode = "pre" if part.endswith("!") else "offset"
    if len(inner) == 1:
        return Address(base, None, mode)
    offset = _operand(inner[1], numbers)
    if len(inner) == 3 and isinstance(offset, General) and (match := _MODIFIER.fullmatch(inner[2])):
        return Address(base, _modified_register(offset, match[1], _number(match[2] or "0")), mode)
    if len(inner) == 2 and isinstance(offset, Immediate | General):
        return Address(base, offset, mode)
    raise ParseError(f"an address offset cannot be {', '.join([offset.shape, *inner[2:]])}")


def _register_list(inner: str, lane: str | None, numbers: Iterator[Index]) -> RegisterList:
    parts = _split(inner)
    if len(set(parts)) != 1:
        raise ParseError(f"the registers of {{{inner}}} must all have one arrangement")
    vector, element = _VECTOR.fullmatch(parts[0]), _LISTED_ELEMENT.fullmatch(parts[0])
    if vector and lane is None:
        return RegisterList(tuple(Vector(next(numbers), int(vector[1]), vector[2]) for _ in parts))
    if element and lane is not None:
        return RegisterList(tuple(_element(next(numbers), element[1], _number(lane)) for _ in parts))
    raise ParseError(f"{{{inner}}} is no list of vector registers")


def _element(register: Index, letter: str, number: int, group: int = 1) -> Element:
    if (number + 1) * group * ELEMENT_BITS[letter] > 128:
        raise ParseError(f"a vector register has no lane {number} of {group * ELEMENT_BITS[letter]} bits")
    return Element(register, letter, number, group)
