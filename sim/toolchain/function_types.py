"""The type of a function, from the debug information of its image.

Source: DWARF 5, sections 3.3 (subprograms), 5.1 to 5.7 (types).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from sim.kernels.signature import Argument, Pointer, ScalarArgument, Signature, Struct, VectorArgument
from sim.toolchain.image import Image, ImageError

_QUALIFIERS: Final = ("DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type")
_SIGNED: Final = {5: "int", 6: "int", 7: "uint", 8: "uint", 2: "uint", 4: "float", 16: "uint"}
"""DW_ATE_signed, signed_char, unsigned, unsigned_char, boolean, float, UTF."""
_DEEPEST: Final = 32
"""Types within types; C's own limits are far below what a malformed file may nest."""


def function_signature(image: Image, name: str) -> Signature:
    """How a function is called; each pointer has the unknown extent 0.

    A pointer to constants is an input, any other both in and out.  Raises ImageError where the debug information
    does not have the function, says of it what no signature can, or is malformed.
    """
    try:
        return image.from_debug_information(lambda dwarf: _signature(dwarf, name))
    except _Unknown as unknown:
        raise ImageError(f"{name!r} of {image.path} cannot be called by its debug information: {unknown}") from None


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
        if _kind(theirs) != _kind(ours):
            said = f"{theirs.name!r} is {_kind(theirs)}, the signature says that {ours.name!r} is {_kind(ours)}"
            raise ImageError(f"the signature does not fit: in {name!r} of {image.path} {said}")
    if _number_kind(compiled.returns) != _number_kind(signature.returns):
        said = f"returns {_number_kind(compiled.returns)}, the signature {_number_kind(signature.returns)}"
        raise ImageError(f"the signature does not fit: {name!r} of {image.path} {said}")


def _kind(argument: Argument) -> str:
    """What is compared of an argument."""
    if isinstance(argument, Struct):
        return f"a structure of {argument.type.itemsize} bytes"
    if isinstance(argument, VectorArgument):
        return f"a vector of {argument.lanes} x {_number_kind(argument.dtype)}"
    number = _number_kind(argument.dtype)
    return f"a pointer to {number}" if isinstance(argument, Pointer) else number


def _number_kind(dtype: str) -> str:
    if not dtype:
        return "nothing"
    kind = np.dtype(dtype)
    return f"{8 * kind.itemsize}-bit {'floating point' if kind.kind == 'f' else 'integer'}"


class _Unknown(ImageError):
    """Why a function cannot be called, to be put into a sentence."""


def _signature(dwarf: Any, name: str) -> Signature:
    """Of the first definition that has that name or is linked by it."""
    for entry in (die for unit in dwarf.iter_CUs() for die in unit.get_top_DIE().iter_children()):
        names = (_text(entry, "DW_AT_linkage_name"), _text(entry, "DW_AT_name"))
        if entry.tag == "DW_TAG_subprogram" and name in names and "DW_AT_declaration" not in entry.attributes:
            break
    else:
        raise _Unknown("it is not in there")
    children = list(entry.iter_children())
    if any(child.tag == "DW_TAG_unspecified_parameters" for child in children):
        raise _Unknown("a function with variable arguments cannot be called")
    parameters = [child for child in children if child.tag == "DW_TAG_formal_parameter"]
    arguments = tuple(_argument(die, f"argument {i}") for i, die in enumerate(parameters, 1))
    returned = _type_of(entry)
    if returned is None:
        return Signature(arguments)
    result = _argument(entry, "its result")
    if not isinstance(result, ScalarArgument):
        raise _Unknown(f"{name!r} returns what is no number")
    return Signature(arguments, result.dtype)


def _argument(die: Any, unnamed: str) -> Argument:
    name = _text(die, "DW_AT_name") or unnamed
    target, _ = _stripped(_type_of(die))
    if target is None:
        raise _Unknown(f"{name!r} has no type")
    if target.tag in ("DW_TAG_pointer_type", "DW_TAG_reference_type"):
        pointed, constant = _stripped(_type_of(target))
        if pointed is None:
            raise _Unknown(f"{name!r} points to void: give the prototype")
        dtype = _array(name, pointed)[0] if pointed.tag == "DW_TAG_array_type" else _number(name, pointed)
        return Pointer(name, dtype, (0,), direction="in" if constant else "inout", nullable=True)
    if target.tag == "DW_TAG_array_type":
        return VectorArgument(name, *_array(name, target))
    if target.tag in ("DW_TAG_structure_type", "DW_TAG_class_type"):
        fields = []
        for member in target.iter_children():
            field = _text(member, "DW_AT_name")
            held, _ = _stripped(_type_of(member))
            if member.tag != "DW_TAG_member" or held is None:
                raise _Unknown("a structure has more than plain members")
            if held.tag == "DW_TAG_array_type":
                dtype, count = _array(field, held)
                fields.append((field, f"({count},){dtype}"))
            else:
                fields.append((field, _number(field, held)))
        return Struct(name, tuple(fields))
    return ScalarArgument(name, _number(name, target))


def _array(name: str, die: Any) -> tuple[str, int]:
    """Dtype and number of elements of an array or vector type."""
    element, _ = _stripped(_type_of(die))
    counts = []
    for axis in (child.attributes for child in die.iter_children() if child.tag == "DW_TAG_subrange_type"):
        counts.append(
            int(axis["DW_AT_count"].value) if "DW_AT_count" in axis else int(axis["DW_AT_upper_bound"].value) + 1
        )
    if element is None or len(counts) != 1:
        raise _Unknown(f"{name!r} has more than one axis: give the prototype")
    return _number(name, element), counts[0]


def _number(name: str, die: Any) -> str:
    if die.tag == "DW_TAG_enumeration_type":
        return f"int{8 * die.attributes['DW_AT_byte_size'].value}"
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
