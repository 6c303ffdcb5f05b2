"""Conditions on the flags, and the selects and compares that depend on one (Arm ARM C1.2.4, C6.2: CCMN to CSNEG)."""

from __future__ import annotations

from collections.abc import Callable

from isa.lane import Lane, Write, constant, select
from isa.operands import Condition, General, Immediate
from isa.semantics.base.flags import FLAGS, C, N, V, Z, flag, logical_not
from isa.semantics.base.integer import Source
from isa.semantics.elementwise import Body, Writes


def holds(condition: Condition) -> Lane:
    """1 where the condition is true of the flags (Arm ARM C1.2.4, table C1-1)."""
    n, z, c, v = flag(N), flag(Z), flag(C), flag(V)
    table = {
        "eq": z, "ne": logical_not(z), "hs": c, "lo": logical_not(c),
        "mi": n, "pl": logical_not(n), "vs": v, "vc": logical_not(v),
        "hi": c & logical_not(z), "ls": logical_not(c) | z, "ge": n.equals(v), "lt": n ^ v,
        "gt": logical_not(z) & n.equals(v), "le": z | (n ^ v), "al": constant(1), "nv": constant(1),
    }  # fmt: skip
    return table[condition.name]


def conditional(function: Callable[[Lane], Lane]) -> Body:
    """CSEL, CSINC, CSINV, CSNEG: n where the condition holds, else a function of m."""

    def body(d: General, n: General, m: General, condition: Condition) -> Writes:
        return d.write(select(holds(condition), n.value, d.type.wrap(function(m.value))))

    return body


def conditional_or_same(function: Callable[[Lane], Lane]) -> Body:
    """CINC, CINV, CNEG: a function of n where the condition holds, else n."""

    def body(d: General, n: General, condition: Condition) -> Writes:
        return d.write(select(holds(condition), d.type.wrap(function(n.value)), n.value))

    return body


def same(a: Lane) -> Lane:
    """The function of CSEL: `a` itself."""
    return a


def incremented(a: Lane) -> Lane:
    """The function of CSINC, CINC: `a` + 1."""
    return a + 1


def inverted(a: Lane) -> Lane:
    """The function of CSINV, CINV: the bits of `a` inverted."""
    return ~a


def negated(a: Lane) -> Lane:
    """The function of CSNEG, CNEG: minus `a`."""
    return -a


def condition_set(d: General, condition: Condition) -> Writes:
    """CSET: 1 where the condition holds, else 0."""
    return d.write(holds(condition))


def condition_set_mask(d: General, condition: Condition) -> Writes:
    """CSETM: all ones where the condition holds, else 0."""
    return d.write(-holds(condition))


def conditional_compare(comparison: Callable[[General, Source], Writes]) -> Body:
    """CCMP, CCMN: the flags of the comparison where the condition holds, else the four given flags."""

    def body(n: General, m: Source, otherwise: Immediate, condition: Condition) -> Writes:
        (compared,) = comparison(n, m)
        given = [constant(otherwise.number >> bit & 1) for bit in range(4)]
        taken = holds(condition)
        return (Write(FLAGS, 1, [select(taken, a, b) for a, b in zip(compared.lanes, given, strict=True)]),)

    return body
