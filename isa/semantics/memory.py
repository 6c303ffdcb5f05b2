"""Loads and stores.  Each makes one access to contiguous memory, so that a fault leaves everything as it was.

Arm ARM C7.2 (LD1 to ST4, LDP to STUR of SIMD&FP registers) and C6.2 (the general registers).
"""

from __future__ import annotations

from isa.lane import S32, U64, Int, Lane, Write, load
from isa.operands import Address, Element, General, Immediate, RegisterList, Scalar, Vector
from isa.semantics.elementwise import Body, Writes

Register = General | Scalar


def _written(register: Register, value: Lane) -> Writes:
    return register.receive(value) if isinstance(register, General) else register.write([value])


def _stored(register: Register) -> Lane:
    return register.value if isinstance(register, General) else register.lanes(False)[0]


def load_register(d: Register, address: Address) -> Writes:
    """LDR, LDUR, LDTR, LDAR: the bits of the register; those above them become zero."""
    return _written(d, load(address.value, d.bits // 8)) + address.update()


def store_register(s: Register, address: Address) -> Writes:
    """STR, STUR, STTR, STLR: the bits of the register."""
    return (Write(address.memory(s.bits // 8), s.bits, [_stored(s)]), *address.update())


def load_part(element: Int) -> Body:
    """LDRB, LDRSH, LDRSW, ...: a shorter element, zero- or sign-extended to the register."""

    def body(d: General, address: Address) -> Writes:
        return d.receive(element.wrap(load(address.value, element.bits // 8))) + address.update()

    return body


def store_part(element: Int) -> Body:
    """STRB, STRH: the low bits of the register."""

    def body(s: General, address: Address) -> Writes:
        return (Write(address.memory(element.bits // 8), element.bits, [element.wrap(s.value)]), *address.update())

    return body


def load_literal(d: Register, target: Immediate) -> Writes:
    """LDR (literal): the disassembler has already added the program counter."""
    return _written(d, load(U64.wrap(target.value), d.bits // 8))


def load_literal_signed_word(d: General, target: Immediate) -> Writes:
    """LDRSW (literal): a 32-bit value, sign-extended."""
    return d.receive(S32.wrap(load(U64.wrap(target.value), 4)))


def load_pair(first: Register, second: Register, address: Address) -> Writes:
    """LDP, LDNP: two adjacent values, the first register from the lower address."""
    both = load(address.value, first.bits // 4)
    low, high = Int(first.bits, False).lanes(both, 2)
    return _written(first, low) + _written(second, high) + address.update()


def load_pair_signed_words(first: General, second: General, address: Address) -> Writes:
    """LDPSW: two adjacent 32-bit values, sign-extended."""
    low, high = Int(32, True).lanes(load(address.value, 8), 2)
    return first.receive(low) + second.receive(high) + address.update()


def store_pair(first: Register, second: Register, address: Address) -> Writes:
    """STP, STNP: the first register to the lower address."""
    lanes = [_stored(first), _stored(second)]
    return (Write(address.memory(first.bits // 4), first.bits, lanes), *address.update())


def _vectors(registers: RegisterList) -> tuple[Vector, ...]:
    return tuple(register for register in registers.registers if isinstance(register, Vector))


def _elements(registers: RegisterList) -> tuple[Element, ...]:
    return tuple(register for register in registers.registers if isinstance(register, Element))


def load_consecutive(registers: RegisterList, address: Address) -> Writes:
    """LD1: one register after the other."""
    vectors = _vectors(registers)
    element, count = vectors[0].element(False), vectors[0].count
    whole = load(address.value, len(vectors) * count * element.bits // 8)
    writes = [vector.write(element.lanes(whole, count, i * count)) for i, vector in enumerate(vectors)]
    return sum(writes, ()) + address.update()


def load_structures(registers: RegisterList, address: Address) -> Writes:
    """LD2 to LD4: lane i of register r is element r of structure i."""
    vectors = _vectors(registers)
    element, count = vectors[0].element(False), vectors[0].count
    elements = element.lanes(load(address.value, len(vectors) * count * element.bits // 8), len(vectors) * count)
    writes = [vector.write(elements[r :: len(vectors)]) for r, vector in enumerate(vectors)]
    return sum(writes, ()) + address.update()


def load_and_replicate(registers: RegisterList, address: Address) -> Writes:
    """LD1R to LD4R: one structure, each element in every lane of its register."""
    vectors = _vectors(registers)
    element = vectors[0].element(False)
    elements = element.lanes(load(address.value, len(vectors) * element.bits // 8), len(vectors))
    writes = [vector.write([lane] * vector.count) for vector, lane in zip(vectors, elements, strict=True)]
    return sum(writes, ()) + address.update()


def load_one_structure(registers: RegisterList, address: Address) -> Writes:
    """LD1 to LD4 (single structure): one lane of each register."""
    targets = _elements(registers)
    element = targets[0].element(False)
    elements = element.lanes(load(address.value, len(targets) * element.bits // 8), len(targets))
    writes = [target.write([lane]) for target, lane in zip(targets, elements, strict=True)]
    return sum(writes, ()) + address.update()


def _store(address: Address, element: Int, lanes: list[Lane]) -> Writes:
    return (Write(address.memory(len(lanes) * element.bits // 8), element.bits, lanes), *address.update())


def store_consecutive(registers: RegisterList, address: Address) -> Writes:
    """ST1: one register after the other."""
    vectors = _vectors(registers)
    lanes = [lane for vector in vectors for lane in vector.lanes(False)]
    return _store(address, vectors[0].element(False), lanes)


def store_structures(registers: RegisterList, address: Address) -> Writes:
    """ST2 to ST4: element r of structure i is lane i of register r."""
    vectors = _vectors(registers)
    structures = zip(*(vector.lanes(False) for vector in vectors), strict=True)
    return _store(address, vectors[0].element(False), [lane for structure in structures for lane in structure])


def store_one_structure(registers: RegisterList, address: Address) -> Writes:
    """ST1 to ST4 (single structure): one lane of each register."""
    sources = _elements(registers)
    return _store(address, sources[0].element(False), [source.lanes(False)[0] for source in sources])


def prefetch(*_operands: object) -> Writes:
    """PRFM: a hint, it changes nothing."""
    return ()
