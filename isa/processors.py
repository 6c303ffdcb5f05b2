"""Which extensions a processor has, by its name: what clang's -mcpu=NAME defines, of `FEATURES` and `BEHAVIOURS`.

It is checked against the compiler (tests/test_features.py), which follows Arm's Technical Reference Manuals.  Where
cryptography is the vendor's choice this says what the compiler says: it is on in Armv8 cores (a Raspberry Pi 4, whose
Cortex-A72 has none, departs from it), off in Armv9 cores of Arm's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from isa.errors import LanewiseError, did_you_mean
from isa.instruction import BEHAVIOURS, FEATURES

_CRYPTOGRAPHY = frozenset({"aes", "pmull", "sha2"})
_ARMV8 = _CRYPTOGRAPHY | {"crc"}
_ARMV8_1 = _ARMV8 | {"rdm", "lse", "lor"}
_ARMV8_2 = _ARMV8_1 | {"fp16", "dotprod", "rcpc"}
_ARMV8_4 = frozenset((*FEATURES, "lse2"))
_ARMV9 = _ARMV8_4 - _CRYPTOGRAPHY - {"sha3", "sha512", "sm4"}

PROCESSORS: Final = {
    **dict.fromkeys(("cortex-a35", "cortex-a53", "cortex-a57", "cortex-a72", "cortex-a73"), _ARMV8),
    **dict.fromkeys(("cortex-a55", "cortex-a65", "cortex-a75", "cortex-a76", "cortex-a77", "cortex-a78"), _ARMV8_2),
    **dict.fromkeys(("cortex-x1", "neoverse-e1", "neoverse-n1"), _ARMV8_2),
    **dict.fromkeys(("cortex-a510", "cortex-a520", "cortex-a710", "cortex-a715", "cortex-a720"), _ARMV9),
    **dict.fromkeys(("cortex-x2", "cortex-x3", "cortex-x4", "neoverse-n2", "neoverse-v2", "neoverse-v3"), _ARMV9),
    "neoverse-v1": _ARMV8_4 - {"frintts", "flagm2", "sb"},
    "a64fx": _ARMV8_1 | {"fp16", "fcma"},
    "thunderx2t99": _ARMV8_1,
    "ampere1": _ARMV8_4 - {"sm4"},
    "apple-m1": _ARMV8_4 - {"i8mm", "bf16", "sm4"},
    "apple-m2": _ARMV8_4 - {"sm4"},
    "lane128": frozenset(FEATURES),
}
"""The features of each processor; `lane128` is this project's own, which has all instructions."""


class UnknownFeature(LanewiseError, ValueError):
    """No extension and no processor has this name; the message names those that there are."""


def features_of(features: str | Iterable[str]) -> frozenset[str]:
    """The features of a processor by its name, or those that are named one by one.  Raises UnknownFeature."""
    if isinstance(features, str):
        known = PROCESSORS.get(features)
        if known is None:
            raise UnknownFeature(
                f"{features!r} is no processor that is known here{did_you_mean(features, PROCESSORS)}: give one of "
                f"{', '.join(sorted(PROCESSORS))}; in Python also a sequence of names, such as ('rdm',)"
            )
        return known
    named = frozenset(features)
    if unknown := named.difference(FEATURES, BEHAVIOURS):
        known_names = ", ".join((*FEATURES, *BEHAVIOURS))
        raise UnknownFeature(f"unknown feature {sorted(unknown)[0]!r}: the features are {known_names}")
    return named
