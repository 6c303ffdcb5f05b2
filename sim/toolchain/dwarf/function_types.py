"""The type of a function, from the debug information of its image.

Source: DWARF 5, sections 3.3 (subprograms), 5.1 to 5.7 (types).
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from sim.kernels.c_types import CFunction, CMember, CNumber, CPointer, CRecord, CType, CVector, CVoid, record_of
from sim.kernels.prototype import KnownTypes
from sim.kernels.signature import (
    RETURNED,
    Argument,
    Direction,
    FunctionArgument,
    Pointer,
    ScalarArgument,
    Signature,
    Struct,
    VectorArgument,
)
from sim.toolchain.compilers import ASSEMBLY
from sim.toolchain.image import Image, ImageError
from sim.toolchain.mangled import functions_called
from sim.toolchain.objects import open_image

_QUALIFIERS: Final = ("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type")
_SIGNED: Final = {5: "int", 6: "int", 7: "uint", 8: "uint", 2: "uint", 4: "float", 16: "uint"}
"""DW_ATE_signed, signed_char, unsigned, unsigned_char, boolean, float, UTF."""
_POINTERS: Final = ("DW_TAG_pointer_type", "DW_TAG_reference_type", "DW_TAG_rvalue_reference_type")
_RECORDS: Final = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")
_NOT_MEMBERS: Final = ("DW_TAG_subprogram", "DW_TAG_typedef", "DW_TAG_enumeration_type", *_RECORDS)
_DECLARED: Final = {
    "": (
        "DW_TAG_typedef",
        "DW_TAG_structure_type",
        "DW_TAG_class_type",
        "DW_TAG_union_type",
        "DW_TAG_enumeration_type",
    ),
    "struct": ("DW_TAG_structure_type", "DW_TAG_class_type"),
    "union": ("DW_TAG_union_type",),
    "enum": ("DW_TAG_enumeration_type",),
}
"""By the word before a name; without one it is C's typedef, or any type of C++."""
_BFLOAT: Final = "__bf16"
_DECLARED_AT: Final = "DW_AT_specification"
"""Of a function that is defined outside of the namespace or class that it is declared in."""
_DEEPEST: Final = 32
"""Types within types; C's own limits are far below what a malformed file may nest."""


def function_signature(image: Image, name: str) -> Signature:
    """How a function is called; each pointer has the unknown extent 0, one to void, which is to bytes, none.

    A pointer to constants is an input, any other both in and out.  Raises ImageError where the debug information
    does not have the function, says of it what no signature can, or is malformed.
    """
    called = {} if name in image.symbols else functions_called(name, image.symbols)
    names = {name, *called, *(whole.rpartition("::")[2] for whole in called.values())}
    try:
        is_assembly = image.path.suffix in ASSEMBLY
        absent = "assembly does not say what it takes;" if is_assembly else "it is not in there; compile with -g, or"
        return image.from_debug_information(lambda dwarf: _signature(dwarf, name, names, absent))
    except _Unknown as unknown:
        raise ImageError(f"{name!r} of {image.path} cannot be called by its debug information: {unknown}") from None


def declared_types(source: Path, symbol: str, *flags: str) -> KnownTypes:
    """The types that the debug information of a function's file has, for `parse_prototype`.

    `source` is whatever a kernel's source may be, compiled with the flags where it is text.  Raises what opening the
    file raises, and asked what `types_in` raises.
    """
    return types_in(open_image(source, symbol, *flags))


def types_in(image: Image) -> KnownTypes:
    """The types of an image's debug information by names such as "point", "struct point", "union params", "enum mode".

    They are laid out as the compiler did; of a union the first member has the numbers, pointers in structures are
    null.  Asked, it raises ImageError for a type that no argument can have, and for malformed debug information.
    """

    def look_up(name: str) -> CType | None:
        try:
            return image.from_debug_information(lambda dwarf: _declared(dwarf, name))
        except _Unknown as unknown:
            raise ImageError(f"{name!r} of {image.path} cannot be an argument's type: {unknown}") from None

    return look_up


def require_fit(image: Image, name: str, signature: Signature) -> None:
    """Raises ImageError where the debug information of a function contradicts a signature.

    Compared are the number of arguments, what each is, and the size and the kind (integer or floating-point) of its
    numbers, not their signs.  A function without debug information, with types that it cannot say, or with no
    arguments of its own (as one in assembly has none) fits; and a signature may end with numbers that only its extents
    and strides name.
    """
    try:
        compiled = function_signature(image, name)
    except ImageError:
        return
    if not compiled.arguments:
        return
    further = {argument.name for argument in signature.arguments[len(compiled.arguments) :]}
    if len(compiled.arguments) > len(signature.arguments) or not further <= signature.sizes:
        counts = f"{len(compiled.arguments)} arguments, the signature {len(signature.arguments)}"
        raise ImageError(f"the signature does not fit: {name!r} of {image.path} takes {counts}")
    for theirs, ours in zip(compiled.arguments, signature.arguments, strict=False):
        if _is_address(theirs) and _is_address(ours) and not (_number_of(theirs) and _number_of(ours)):
            continue  # what void, structures and tables hold is for the prototype to say
        if _kind(theirs) != _kind(ours):
            said = f"{theirs.name!r} is {_kind(theirs)}, the signature says that {ours.name!r} is {_kind(ours)}"
            raise ImageError(f"the signature does not fit: in {name!r} of {image.path} {said}")
    if _result_kind(compiled) != _result_kind(signature):
        said = f"returns {_result_kind(compiled)}, the signature {_result_kind(signature)}"
        raise ImageError(f"the signature does not fit: {name!r} of {image.path} {said}")


def _is_address(argument: Argument) -> bool:
    by_pointer = isinstance(argument, Struct) and argument.by_pointer
    return by_pointer or isinstance(argument, Pointer | FunctionArgument)


def _number_of(argument: Argument) -> str:
    """The kind of the numbers that a pointer points to; "" where it does not point to numbers."""
    if not isinstance(argument, Pointer) or argument.indirect or not argument.shape:
        return ""
    return _number_kind(argument.dtype)


def _kind(argument: Argument) -> str:
    """What is compared of an argument."""
    if _is_address(argument):
        return f"a pointer to {_number_of(argument)}" if _number_of(argument) else "a pointer"
    if isinstance(argument, Struct) or (isinstance(argument, VectorArgument) and argument.count > 1):
        return f"a structure of {argument.type.itemsize} bytes"
    if isinstance(argument, VectorArgument):
        return f"a vector of {argument.lanes} x {_number_kind(argument.dtype)}"
    assert isinstance(argument, ScalarArgument)
    return "16-bit floating point" if argument.in_vector else _number_kind(argument.dtype)


def _result_kind(signature: Signature) -> str:
    return _number_kind(signature.returns) if signature.returned is None else _kind(signature.returned)


def _number_kind(dtype: str) -> str:
    if not dtype:
        return "nothing"
    kind = np.dtype(dtype)
    return f"{8 * kind.itemsize}-bit {'floating point' if kind.kind == 'f' else 'integer'}"


def _declared(dwarf: Any, name: str) -> CType | None:
    """The first complete type of that name."""
    word, _, tag = name.rpartition(" ")
    tags = _DECLARED[word]
    for entry in (die for unit in dwarf.iter_CUs() for die in unit.get_top_DIE().iter_children()):
        if entry.tag in tags and _text(entry, "DW_AT_name") == tag and "DW_AT_declaration" not in entry.attributes:
            held, _ = _stripped(entry)
            if held is None:
                return CVoid()
            pointed = _stripped(_type_of(held))[0] if held.tag in _POINTERS else None
            if pointed is not None and pointed.tag == "DW_TAG_subroutine_type":
                return CFunction()
            kind = _c_type(tag, held)
            if held.tag == "DW_TAG_enumeration_type" and isinstance(kind, CNumber):
                numbers = [child.attributes["DW_AT_const_value"].value for child in held.iter_children()]
                return replace(kind, choices=tuple(dict.fromkeys(numbers)))
            return _without_arrays(kind) if isinstance(kind, CRecord) else kind
    return None


def _without_arrays(record: CRecord) -> CRecord:
    """With null for all pointers: how many elements they point to is not known."""
    return replace(record, pointers=tuple((offset, None) for offset, _ in record.pointers))


class _Unknown(ImageError):
    """Why a function cannot be called, to be put into a sentence."""


def _signature(dwarf: Any, name: str, names: Set[str], absent: str) -> Signature:
    """Of the first definition that is linked by one of these names or, where that is not said, has it; `absent`
    says what to do where none is.
    """
    for entry in (each for unit in dwarf.iter_CUs() for each in _subprograms(unit.get_top_DIE())):
        declared = entry.get_DIE_from_attribute(_DECLARED_AT) if _DECLARED_AT in entry.attributes else entry
        own = _text(declared, "DW_AT_linkage_name") or _text(declared, "DW_AT_name")
        if own in names and "DW_AT_declaration" not in entry.attributes:
            break
    else:
        raise _Unknown(
            f"{absent} give the prototype in place of the name, "
            f"such as 'int {name}(const int8_t a[length], uint64_t length)'"
        )
    children = list(entry.iter_children())
    if any(child.tag == "DW_TAG_unspecified_parameters" for child in children):
        raise _Unknown("a function with variable arguments cannot be called")
    parameters = [child for child in children if child.tag == "DW_TAG_formal_parameter"]
    arguments = tuple(_argument(die, f"argument {i}") for i, die in enumerate(parameters, 1))
    returned = _type_of(entry)
    if returned is None:
        return Signature(arguments)
    result = _argument(entry, RETURNED)
    if isinstance(result, ScalarArgument) and not result.in_vector:
        return Signature(arguments, result.dtype)
    if isinstance(result, VectorArgument):
        return Signature(arguments, "", result)
    if isinstance(result, Struct) and not result.by_pointer and not result.pointers:
        return Signature(arguments, "", result)
    raise _Unknown(f"{name!r} returns what is no number, vector or structure of numbers")


def _subprograms(scope: Any, depth: int = 0) -> Iterator[Any]:
    """The functions of a unit, those in namespaces too."""
    if depth > _DEEPEST:
        raise _Unknown("its namespaces are nested too deeply")
    for entry in scope.iter_children():
        if entry.tag == "DW_TAG_subprogram":
            yield entry
        elif entry.tag == "DW_TAG_namespace":
            yield from _subprograms(entry, depth + 1)


def _argument(die: Any, unnamed: str) -> Argument:
    name = unnamed if unnamed == RETURNED else _text(die, "DW_AT_name") or unnamed
    target, _ = _stripped(_type_of(die))
    if target is None:
        raise _Unknown(f"{name!r} has no type")
    if target.tag in _POINTERS:
        return _pointer(name, target)
    match _c_type(name, target):
        case CNumber(dtype, choices, in_vector):
            return ScalarArgument(name, dtype, choices=choices, in_vector=in_vector)
        case CVector(dtype, lanes, count):
            return VectorArgument(name, dtype, lanes, count)
        case CRecord() as record:
            return record.struct(name)
    raise _Unknown(f"{name!r} has a type that cannot be passed here: {target.tag}")


def _pointer(name: str, die: Any) -> Pointer | Struct | FunctionArgument:
    """What a pointer or a reference is, to arrays of which the extents are not known."""
    pointed, constant = _stripped(_type_of(die))
    direction: Direction = "in" if constant else "inout"
    if pointed is None:
        return Pointer(name, "uint8", (), direction=direction, nullable=True)
    if pointed.tag == "DW_TAG_subroutine_type":
        return FunctionArgument(name, (None,))
    if pointed.tag in _POINTERS:
        inner, constant = _stripped(_type_of(pointed))
        dtype = "uint8" if inner is None else _number(name, inner)
        direction = "in" if constant else "inout"
        return Pointer(name, dtype, (0, 0), direction=direction, nullable=True, indirect=True)
    if pointed.tag == "DW_TAG_array_type":
        return Pointer(name, _number(name, _array(name, pointed)[0]), (0,), direction=direction, nullable=True)
    if pointed.tag in _RECORDS and (kind := _c_type(name, pointed)) and isinstance(kind, CRecord):
        return replace(kind.struct(name), by_pointer=True, direction=direction, nullable=True)
    return Pointer(name, _number(name, pointed), (0,), direction=direction, nullable=True)


def _c_type(name: str, die: Any, depth: int = 0) -> CType:
    """The type of an argument or a field that is no pointer."""
    if depth > _DEEPEST:
        raise _Unknown("its types are nested too deeply")
    if die.tag == "DW_TAG_array_type" and "DW_AT_GNU_vector" in die.attributes:
        element, (lanes, *_) = _array(name, die)
        return CVector(_number(name, element), lanes)
    if die.tag not in _RECORDS:
        return CNumber(_number(name, die), in_vector=_text(die, "DW_AT_name") == _BFLOAT)
    members = [_member(child, depth) for child in die.iter_children() if child.tag not in _NOT_MEMBERS]
    try:
        record = record_of(members, is_union=die.tag == "DW_TAG_union_type")
    except ValueError as error:
        raise _Unknown(str(error)) from None
    if record.size != die.attributes["DW_AT_byte_size"].value:
        raise _Unknown(f"{name!r} is laid out otherwise than C does by itself")
    return record


def _member(die: Any, depth: int) -> CMember:
    field, extents = _text(die, "DW_AT_name"), tuple[int, ...]()
    held, _ = _stripped(_type_of(die))
    if die.tag != "DW_TAG_member" or held is None:
        raise _Unknown("a structure has more than plain members")
    bits, at = _bits(die)
    if bits is not None:
        return CMember(field, _c_type(field, held, depth + 1), bits=bits, at=at)
    if held.tag == "DW_TAG_array_type" and "DW_AT_GNU_vector" not in held.attributes:
        held, extents = _array(field, held)
    if held.tag not in _POINTERS:
        return CMember(field, _c_type(field, held, depth + 1), extents, at=at)
    pointed = None if extents else _pointer(field, held)
    if not isinstance(pointed, Pointer):
        raise _Unknown("a structure has pointers to more than numbers")
    return CMember(field, CPointer(pointed), at=at)


def _bits(die: Any) -> tuple[int | None, int | None]:
    """How many bits a field of bits has, and the bit of the structure at which a field begins; None for not said."""
    said = {name.removeprefix("DW_AT_"): attribute.value for name, attribute in die.attributes.items()}
    size, place = said.get("bit_size"), said.get("data_member_location", 0)
    if size is None:
        return None, 8 * place if isinstance(place, int) else None
    if "bit_offset" in said:  # of DWARF 3, from the highest bit of the whole number downwards
        return size, 8 * (place + said.get("byte_size", 4)) - said["bit_offset"] - size
    return size, said.get("data_bit_offset", 0)


def _array(name: str, die: Any) -> tuple[Any, tuple[int, ...]]:
    """The element type and the extents of an array or vector type."""
    element, _ = _stripped(_type_of(die))
    counts = []
    for axis in (child.attributes for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"):
        counts.append(
            int(axis["DW_AT_count"].value) if "DW_AT_count" in axis else int(axis["DW_AT_upper_bound"].value) + 1
        )
    if element is None or not counts:
        raise _Unknown(f"{name!r} has no extents: give the prototype")
    return element, tuple(counts)


def _number(name: str, die: Any) -> str:
    if die.tag == "DW_TAG_enumeration_type":
        return f"int{8 * die.attributes['DW_AT_byte_size'].value}"
    if _text(die, "DW_AT_name") == _BFLOAT:
        return "uint16"
    kind = _SIGNED.get(die.attributes["DW_AT_encoding"].value) if die.tag == "DW_TAG_base_type" else None
    size = die.attributes["DW_AT_byte_size"].value if kind else 0
    if kind is None or size not in (1, 2, 4, 8):
        raise _Unknown(f"{name!r} has a type that cannot be passed here: {_text(die, 'DW_AT_name') or die.tag}")
    return f"{kind}{8 * size}"


def _stripped(die: Any) -> tuple[Any, bool]:
    """A type without names and qualifiers, and whether it was constant."""
    constant = False
    for _ in range(_DEEPEST):
        if die is None or die.tag not in (*_QUALIFIERS, "DW_TAG_const_type"):
            return die, constant
        constant = constant or die.tag == "DW_TAG_const_type"
        die = _type_of(die)
    raise _Unknown("its types are nested too deeply")


def _type_of(die: Any) -> Any:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _text(die: Any, attribute: str) -> str:
    found = die.attributes.get(attribute)
    return found.value.decode(errors="replace") if found is not None else ""
