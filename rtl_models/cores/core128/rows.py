"""What the decoder and the arithmetic of `core128` are written from: a row for each encoding of a listed form.

The bits of a word that are fixed, that name registers, that choose among variants of a form (a shift, an element, a
condition) are found by decoding words that differ in them; what the row computes is what the table says of the words,
with the variants as one `Pick`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations
from typing import Final, Literal, NamedTuple

from isa.decode import decode
from isa.instruction import Instruction, lanes_of
from isa.lane import Int, Lane, Load, Memory, Place, Read, Saturate, Write, head, lift, pick, rebuilt, walk
from isa.operands import Address, General, Immediate, Operand, Shifted
from isa.parse import parse
from isa.table import UnknownInstruction
from rtl_models.cores.core128.forms import SHIFTED_NARROW, ListedForm, listed_forms
from rtl_models.cores.core128.immediates import Encoded, LongImmediate
from sim.timing.classes.all_classes import timing_class

FieldName = Literal["d", "n", "m", "a"]
FIELDS: Final[Mapping[FieldName, int]] = {"d": 0, "n": 5, "m": 16, "a": 10}
"""The lowest bits of the fields that name registers: Rd or Rt, Rn, Rm, Ra or Rt2 (Arm ARM C4.1)."""
_NUMBERS: Final[Mapping[FieldName, int]] = {"d": 1, "n": 6, "m": 11, "a": 16}
"""Far enough apart for lists of four registers."""
SHIFTING: Final = (
    *("add", "adds", "sub", "subs", "and", "ands", "orr", "eor", "bic", "cmp", "cmn", "neg", "lsr", "asr"),
    *("sshr", "ushr", "srshr", "urshr", "shl", "sshll", "sshll2", "ushll", "ushll2", "ssra", "usra", "srsra", "ursra"),
    *(f"{m}{two}" for m in SHIFTED_NARROW for two in ("", "2")),
)
"""Mnemonics of forms whose variants are amounts of a shift."""
_TRIED: Final = (9, 23, 29)
"""Numbers that a field is given to see whether it names a register: two do not fit four bits, none is one of those."""
INDEX: Final = Place("index")
IMMEDIATE: Final = Place("imm")
"""What a row reads besides registers: which variant a word is, the lowest bit that chooses first; its number."""
ADDRESS: Final = 0x10000
"""Where words are decoded; nothing in a row depends on it."""
FURTHER: Final = 3
"""Registers of a list that are read after the first."""
LINK: Final = 30
MOST_VARIANTS: Final = 9
"""Bits that choose."""
_ALL: Final = 0xFFFFFFFF


class RowRegister(NamedTuple):
    """A register that a word names: the file "x" or "v", the bits of its field, what 31 is, and how it is used."""

    file: str
    bits: int
    is_sp: bool
    is_read: bool
    is_written: bool


@dataclass(frozen=True)
class OpenImmediate(Immediate):
    """A long immediate: its value is an input of the row."""

    lane: Lane = field(kw_only=True)

    @property
    def value(self) -> Lane:
        """The number, shifted as the form says."""
        return self.lane << self.amount


@dataclass(frozen=True)
class OpenShifted(Shifted):
    """A register shifted by an amount that is an input of the row."""

    lane: Lane = field(kw_only=True)

    @property
    def value(self) -> Lane:
        """The shifted register, unsigned, of its width."""
        element, value = self.base.type, self.base.value
        if self.kind == "lsl":
            return element.wrap(value << self.lane)
        return element.wrap((Int(element.bits, True).wrap(value) if self.kind == "asr" else value) >> self.lane)


@dataclass(frozen=True, kw_only=True, eq=False)
class CoreRow:
    """Words with `value` under `mask` whose index is one of `indices`.

    `writes` are those of the form with `_NUMBERS` as its registers; `index_bits` are those of the word.  Of one that
    `is_alike` Rn and Rm are the same.
    """

    form: str
    mask: int
    value: int
    fields: Mapping[FieldName, int]
    index_bits: tuple[int, ...]
    indices: tuple[int, ...]
    immediate: LongImmediate | None
    timing: str
    writes: tuple[Write, ...]
    address: Lane | None
    stack_fields: frozenset[FieldName]
    is_alike: bool = False

    @cached_property
    def lanes(self) -> tuple[Lane, ...]:
        """Every expression of it."""
        return (*lanes_of(self.writes), *([] if self.address is None else [self.address]))

    @cached_property
    def reads(self) -> frozenset[Place]:
        """The registers it reads, the flags and the program counter among them."""
        return frozenset(node.place for node in walk(self.lanes) if isinstance(node, Read))

    @cached_property
    def load(self) -> Load | None:
        """Its load; all of them have one at most."""
        found = [node for node in walk(self.lanes) if isinstance(node, Load)]
        return found[0] if found else None

    @cached_property
    def store(self) -> Write | None:
        """Its store."""
        return next((write for write in self.writes if isinstance(write.place, Memory)), None)

    @cached_property
    def can_saturate(self) -> bool:
        """Whether it may set QC."""
        return any(isinstance(node, Saturate) for node in walk(self.lanes))

    def may_be_zero(self, name: FieldName) -> bool:
        """Whether a field names a general register, of which 31 is the zero register."""
        register = self.register(name)
        return register is not None and register.file == "x" and not register.is_sp

    @property
    def word(self) -> int:
        """One of its words, with `_NUMBERS` as its registers."""
        word = with_bits(self.value, self.index_bits, self.indices[0])
        for name, bits in self.fields.items():
            word = with_bits(word, _field(name, bits), _NUMBERS[name])
        return word | (self.immediate.word & self.immediate.encoded.bits if self.immediate else 0)

    @property
    def names_stack(self) -> bool:
        """Whether it reads or writes the stack pointer where no field names it."""
        places = {*self.reads, *(write.place for write in self.writes)}
        return any(isinstance(place, Place) and place.file in ("sp", "zr") for place in places)

    def written(self, name: FieldName) -> Write | None:
        """What it writes to the register of a field."""
        return next((w for w in self.writes if isinstance(w.place, Place) and self.field_of(w.place) == name), None)

    @cached_property
    def further(self) -> tuple[FieldName, int]:
        """The field of the first register of a list, and how many it reads after it; ("d", 0) without a list."""
        for name in ("d", "n"):
            first = self.numbers[name]
            behind = [k for k in range(1, FURTHER + 1) if Place("v", first + k) in self.reads]
            if first >= 0 and behind:
                return name, max(behind)
        return "d", 0

    def field_of(self, place: Place) -> FieldName | None:
        """The field that names a register, None for what no field names."""
        if place.file not in ("v", "x"):
            return None
        return next((name for name in FIELDS if self.numbers[name] == place.index), None)

    @cached_property
    def numbers(self) -> Mapping[FieldName, int]:
        """Of the registers that the fields name in `writes`; RET has the link register as Rn; else -1."""
        is_linked = self.mask >> FIELDS["n"] & 31 == 31 and self.value >> FIELDS["n"] & 31 == LINK
        link: dict[FieldName, int] = {"n": LINK} if is_linked else {}
        return {name: _NUMBERS[name] if name in self.fields else link.get(name, -1) for name in FIELDS}

    def register(self, name: FieldName) -> RowRegister | None:
        """How it uses the register of a field; None where it does not."""
        read = [place for place in self.reads if self.field_of(place) == name]
        write = self.written(name)
        places = {*read, *([write.place] if write is not None else [])}
        if not places:
            return None
        (file,) = {place.file for place in places if isinstance(place, Place)}
        bits = self.fields.get(name, 5)
        return RowRegister(file, bits, name in self.stack_fields, bool(read), write is not None)


def _instruction(word: int) -> Instruction | None:
    try:
        return decode(word.to_bytes(4, "little"), ADDRESS)
    except UnknownInstruction:
        return None


def with_bits(word: int, bits: Iterable[int], number: int) -> int:
    """The word with a number in these bits, the lowest first."""
    for k, bit in enumerate(bits):
        word = word & ~(1 << bit) | (number >> k & 1) << bit
    return word


def _field(name: FieldName, bits: int = 5) -> range:
    return range(FIELDS[name], FIELDS[name] + bits)


def _is_form(word: int, form: str) -> bool:
    found = _instruction(word)
    return found is not None and found.form.name == form


def _register_fields(form: str, word: int, long: int) -> dict[FieldName, int]:
    """The fields that name registers, with their bits."""
    found: dict[FieldName, int] = {}
    for name in FIELDS:
        if any(long >> bit & 1 for bit in _field(name, 4)):
            continue
        given = {number: _instruction(with_bits(word, _field(name), number)) for number in _TRIED}
        known = {number: each for number, each in given.items() if each is not None and each.form.name == form}
        if len({each.registers for each in known.values()}) > 1:
            found[name] = 5 if any(number > 15 and number in each.registers for number, each in known.items()) else 4
            word = with_bits(word, _field(name), _NUMBERS[name])
    return found


def _stack_fields(word: int, fields: Mapping[FieldName, int]) -> frozenset[FieldName]:
    """Those in which 31 is the stack pointer."""
    found = set()
    for name in fields:
        instruction = _instruction(with_bits(word, _field(name, 5), 31))
        if instruction is not None and any(g.kind == "sp" for g in _general(instruction)):
            found.add(name)
    return frozenset(found)


def _general(instruction: Instruction) -> Iterator[General]:
    for operand in parse(instruction.pattern.operand_text, instruction.registers):
        parts = (operand.base, operand.offset) if isinstance(operand, Address) else (operand,)
        for part in parts:
            base = getattr(part, "base", part)
            if isinstance(base, General):
                yield base


def _opened(operands: Sequence[Operand], lane: Lane, place: int | None) -> list[Operand]:
    """The operands with the immediate at a place, or the last one, left open."""

    def opened(immediate: Immediate) -> OpenImmediate:
        return OpenImmediate(immediate.number, immediate.kind, immediate.amount, lane=lane)

    found = list(operands)
    for at in reversed(range(len(found))) if place is None else [place]:
        match found[at]:
            case Immediate() as immediate:
                found[at] = opened(immediate)
                return found
            case Address(_, Immediate() as offset) as address:
                found[at] = replace(address, offset=opened(offset))
                return found
            case _:
                continue
    raise ValueError(f"no immediate in {operands}")


class _Variant(NamedTuple):
    number: int
    timing: str
    writes: tuple[Write, ...]
    instruction: Instruction

    @property
    def kind(self) -> object:
        """What variants of one row share: they read the same registers, and write the same places."""
        reads = frozenset(str(node.place) for node in walk(lanes_of(self.writes)) if isinstance(node, Read))
        places = [
            (write.place.size if isinstance(write.place, Memory) else write.place, write.bits, len(write.lanes))
            for write in self.writes
        ]
        sizes = sorted(node.size for node in walk(lanes_of(self.writes)) if isinstance(node, Load))
        return self.timing, reads, tuple(places), tuple(sizes)


def rows_of(listed: ListedForm) -> list[CoreRow]:
    """The rows of a form: for each encoding of its words, each kind of variants, and registers that change what it is.

    Where a register is the zero register less may be read; where Rn is Rm it may be another form in another class.
    """
    found: list[CoreRow] = []
    for word in listed.words:
        if any(word & row.mask == row.value for row in found):
            continue
        rows = _rows_of_word(listed, word)
        found += rows
        general = [name for name in rows[0].fields if name != "d" and rows[0].may_be_zero(name)]
        for zeros in (some for count in (1, 2, 3) for some in combinations(general, count)):
            known = rows[0].reads - {Place("x", _NUMBERS[name]) for name in zeros}
            fixed = [bit for name in zeros for bit in _field(name)]
            instruction = _instruction(with_bits(rows[0].word, fixed, -1))
            if instruction is None or instruction.form.name != listed.name:
                continue
            if {*instruction.places_read} != {place for place in known if place not in (INDEX, IMMEDIATE)}:
                found += _rows_of_word(listed, with_bits(word, fixed, -1), fixed)
        found += [row for row in map(_alike, rows) if row is not None]
    return found


def _alike(row: CoreRow) -> CoreRow | None:
    """The row with Rn as Rm, where it then is an instruction of another class."""
    if {"n", "m"} <= {*row.fields}:
        same = _instruction(with_bits(row.word, _field("m", row.fields["m"]), _NUMBERS["n"]))
        if same is not None and timing_class(same.pattern) != row.timing:
            return replace(row, form=same.form.name, timing=timing_class(same.pattern), is_alike=True)
    return None


def _rows_of_word(listed: ListedForm, word: int, fixed: Sequence[int] = ()) -> list[CoreRow]:
    """The rows of an encoding; the bits that are `fixed` name no register here."""
    form, immediate = listed.name, listed.immediate
    long = immediate.encoded.bits if immediate else 0
    fields = _register_fields(form, word, long | sum(1 << bit for bit in fixed))
    for name, bits in fields.items():
        word = with_bits(word, _field(name, bits), _NUMBERS[name])
    named = {bit for name, bits in fields.items() for bit in _field(name, bits)}
    rest = [bit for bit in range(32) if bit not in named and bit not in fixed and not long >> bit & 1]
    possible = immediate.choosing if immediate else rest
    choosing = tuple(bit for bit in possible if _is_form(word ^ 1 << bit, form))
    if len(choosing) > MOST_VARIANTS:
        raise ValueError(f"{form} has {len(choosing)} bits that choose, {MOST_VARIANTS} are the most")
    mask = _ALL & ~long & ~sum(1 << bit for bit in named | set(choosing))
    kinds: dict[object, list[_Variant]] = {}
    for index in range(1 << len(choosing)):
        variant = _variant(with_bits(word, choosing, index), index, form, immediate)
        if variant is not None:
            kinds.setdefault(variant.kind, []).append(variant)
    stack = _stack_fields(word, fields)
    return [
        CoreRow(
            form=form, mask=mask, value=word & mask, fields=fields, index_bits=choosing,
            indices=tuple(variant.number for variant in variants), immediate=immediate, timing=variants[0].timing,
            writes=_merged(variants, len(choosing)), address=_address(variants, len(choosing)), stack_fields=stack,
        )
        for variants in kinds.values()
    ]  # fmt: skip


def _variant(word: int, index: int, form: str, immediate: LongImmediate | None) -> _Variant | None:
    instruction = _instruction(word)
    if instruction is None or instruction.form.name != form:
        return None
    pattern = instruction.pattern
    if immediate is None:
        writes = instruction.writes
    else:
        operands = parse(pattern.operand_text, instruction.registers)
        writes = pattern.form.body(*_opened(operands, immediate.lane, immediate.place))
    return _Variant(index, timing_class(pattern), writes, instruction)


def _merged(variants: Sequence[_Variant], bits: int) -> tuple[Write, ...]:
    """The writes of all variants as one: with the amount they shift by left open, else each lane a choice by index."""
    if len(variants) == 1:
        return variants[0].writes
    opened = _by_amount(variants, Read(INDEX, 0, (1 << bits) - 1))
    if opened is not None:
        return opened
    found = []
    for position, write in enumerate(variants[0].writes):
        alike = [variant.writes[position] for variant in variants]
        lanes = [_chosen(variants, bits, column) for column in zip(*(each.lanes for each in alike), strict=True)]
        found.append(Write(write.place, write.bits, lanes))
    return tuple(found)


def _address(variants: Sequence[_Variant], bits: int) -> Lane | None:
    """Where the variants load or store, a choice by the index; None where they do not."""
    addresses = []
    for variant in variants:
        places = [write.place.address for write in variant.writes if isinstance(write.place, Memory)]
        loads = [node.address for node in walk(lanes_of(variant.writes)) if isinstance(node, Load)]
        addresses += [*places, *loads][:1]
    if not addresses:
        return None
    return addresses[0] if len(addresses) == 1 else _chosen(variants, bits, addresses)


def _chosen(variants: Sequence[_Variant], bits: int, lanes: Sequence[Lane]) -> Lane:
    """One lane of each variant, by the index.

    Where the lanes are alike, their operands are chosen and not they: what is not chosen must not saturate.
    """
    if all(lane is lanes[0] for lane in lanes):
        return lanes[0]
    columns = list(zip(*(lane.args for lane in lanes), strict=False))
    if columns and len({(head(lane), lane.low, lane.high, len(lane.args)) for lane in lanes}) == 1:
        args = [_chosen(variants, bits, column) for column in columns]
        if [(arg.low, arg.high) for arg in args] == [(arg.low, arg.high) for arg in lanes[0].args]:
            return rebuilt(lanes[0], args)
    if all(isinstance(lane, Read) and head(lane) == head(lanes[0]) for lane in lanes):
        return lanes[0]
    if any(isinstance(node, Saturate) for node in walk(lanes)):
        raise ValueError(f"the variants of {variants[0].instruction.text} saturate in different ways")
    numbers = {variant.number: k for k, variant in enumerate(variants)}
    items = [lanes[numbers.get(number, 0)] for number in range(max(numbers) + 1)]
    return pick(Read(INDEX, 0, (1 << bits) - 1), items, lanes[0])


def _by_amount(variants: Sequence[_Variant], index: Lane) -> tuple[Write, ...] | None:
    """The writes with the amount of the shift left open, where it is the index, or a number less the index."""
    first = variants[0].instruction
    if first.form.mnemonic not in SHIFTING:
        return None
    operands = [parse(v.instruction.pattern.operand_text, v.instruction.registers) for v in variants]
    shifts = [operand for each in operands for operand in each[-1:] if isinstance(operand, Immediate | Shifted)]
    if len(shifts) < len(variants):
        return None
    amounts = [shift.number if isinstance(shift, Immediate) else shift.amount for shift in shifts]
    numbers = [variant.number for variant in variants]
    low, high = amounts[0] - numbers[0], amounts[0] + numbers[0]
    if all(amount == low + number for amount, number in zip(amounts, numbers, strict=True)):
        lane = index + low
    elif all(amount == high - number for amount, number in zip(amounts, numbers, strict=True)):
        lane = lift(high) - index
    else:
        return None
    opened: list[Operand] = list(operands[0])
    shift = shifts[0]
    at = opened.index(shift)
    opened[at] = (
        OpenImmediate(shift.number, shift.kind, 0, lane=lane) if isinstance(shift, Immediate)
        else OpenShifted(shift.base, shift.kind, shift.amount, lane=lane)
    )  # fmt: skip
    return first.form.body(*opened)


@cache
def all_rows() -> tuple[CoreRow, ...]:
    """The rows of all listed forms, those with more fixed bits first: the first row that takes a word counts."""
    rows = [row for listed in listed_forms() for row in rows_of(listed)]
    # what names the stack pointer without a field is the encoding of another form, such as `sub sp, x1, x2`
    unique = {(row.mask, row.value, row.indices, row.is_alike): row for row in rows if not row.names_stack}
    return tuple(sorted(unique.values(), key=lambda row: (-row.mask.bit_count(), not row.is_alike)))


@cache
def row_of(word: int) -> CoreRow | None:
    """The row that takes a word, of those that Arm does not leave open; None where core128 does not have it."""
    for row in all_rows():
        index = sum((word >> bit & 1) << k for k, bit in enumerate(row.index_bits))
        if (
            word & row.mask == row.value
            and index in row.indices
            and (not row.is_alike or word >> 5 & 31 == word >> 16 & 31)
        ):
            return row
    return None


def encoded_immediates(rows: Iterable[CoreRow]) -> list[Encoded]:
    """The long immediates of rows, each once."""
    found = {row.immediate.encoded.name: row.immediate.encoded for row in rows if row.immediate}
    return list(found.values())
