"""The system registers that a program sees: NZCV, FPCR, FPSR, TPIDR_EL0 (Arm ARM C6.2: MRS, MSR)."""

from __future__ import annotations

from isa.lane import Int, Place, Write, read
from isa.operands import General
from isa.semantics.base.flags import FLAGS
from isa.semantics.elementwise import Body, Writes

FPCR_BITS = 0x07FF_0000
"""AHP, DN, FZ, RMode, Stride, FZ16, Len; no exception is trapped (Arm ARM C5.2.8)."""
FPCR_NOT_MODELLED = {
    "FIZ": 0, "AH": 1, "NEP": 2, "IOE": 8, "DZE": 9, "OFE": 10, "UFE": 11, "IXE": 12, "EBF": 13, "IDE": 15,
}  # fmt: skip
"""The other bits that have a name: FEAT_AFP, trapped exceptions, FEAT_EBF16.  They read as 0 and ignore writes, as on a
processor without these (Arm ARM C5.2.8)."""
FPSR_BITS = 0xF800_009F
"""N, Z, C, V of AArch32, QC, IDC, IXC, UFC, OFC, DZC, IOC (Arm ARM C5.2.9)."""


def read_system(place: Place) -> Body:
    """MRS of FPCR, FPSR or TPIDR_EL0."""
    return lambda d, _name: d.write(read(place))


def write_system(place: Place, bits: int) -> Body:
    """MSR of FPCR, FPSR or TPIDR_EL0: of the register, the bits that exist."""
    return lambda _name, n: (Write(place, place.bits, [Int(place.bits, False).wrap(n.value) & bits]),)


def read_flags(d: General, _name: object) -> Writes:
    """MRS of NZCV: N, Z, C, V in bits 31 to 28, zeros elsewhere."""
    return d.write(read(FLAGS) << 28)


def write_flags(_name: object, n: General) -> Writes:
    """MSR of NZCV: N, Z, C, V from bits 31 to 28 of the register."""
    return (Write(FLAGS, 4, [Int(4, False).field(n.value, 28)]),)
