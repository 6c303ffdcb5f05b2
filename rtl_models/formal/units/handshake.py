"""Theorems about the handshake of a unit: no beat is lost, doubled, overtaken or kept for ever.

Beats are numbered as they are accepted, modulo 256.  The numbers are ghosts: they stand beside the module's registers,
move as its data does, and have no influence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from isa.lane import U1, U8, Int, Lane, constant, select
from rtl_models.formal.claims import Signals, Statement, all_of, claim, total
from rtl_models.formal.equations.written import Subject
from rtl_models.formal.theorem import Fault, Theorem
from sim.view.sentences import counted

FILE = "valid_pipeline.sv"
_ALWAYS = Fault(FILE, "assign enable_o = ready_i | ~valid_o;", "assign enable_o = 1'b1;")
_NEVER = Fault(FILE, "assign enable_o = ready_i | ~valid_o;", "assign enable_o = ~valid_o;")
_DOUBLED = Fault(FILE, "Depth'({valid_q, valid_i})", "valid_q | Depth'({valid_q, valid_i})")
_NOT_RESET = Fault(FILE, "valid_q <= '0;", "valid_q <= '1;")
_LATE = Fault(FILE, "assign ready_o  = enable_o;", "assign ready_o = enable_o & ready_i;")


def handshake_theorems(subject: Subject, name: str, depth: int) -> Iterator[Theorem]:
    """All of them, for a unit with an instance of `valid_pipeline` of this name, or for that itself."""
    valid = _Valid(f"{name}." if name else "", depth)
    given = valid.never_reset
    yield Theorem(claim(f"{subject}: ready exactly if a result is taken or none waits", valid.enable), subject, _LATE)
    yield Theorem(claim(f"{subject}: the valid bits move together", valid.moves), subject, _DOUBLED)
    yield Theorem(claim(f"{subject}: reset empties it", valid.reset), subject, _NOT_RESET)
    held = claim(f"{subject}: accepted less delivered is what it holds", valid.counts, given(1))
    yield Theorem(held, subject, _ALWAYS)
    ordered = claim(f"{subject}: beats leave in the order in which they came", valid.order, valid.numbered)
    yield Theorem(ordered, subject, _DOUBLED)
    on_time = claim(f"{subject}: a beat leaves {counted(depth, 'edge')} after it came", valid.progress, valid.taken)
    yield Theorem(on_time, subject, _NEVER)


class _Valid:
    """The valid bits of a pipeline, and what is claimed of them."""

    def __init__(self, prefix: str, depth: int) -> None:
        self._wire, self._enable, self._depth = f"{prefix}valid_q", f"{prefix}enable_o", depth

    def bits(self, read: Signals) -> list[Lane]:
        """Those of the stages, the first one first."""
        return Int(1, False).lanes(self.word(read), self._depth)

    def word(self, read: Signals) -> Lane:
        """All of them."""
        return read(self._wire, Int(self._depth, signed=False))

    def enable(self, read: Signals) -> Statement:
        """Nothing waits for ever: whoever takes the result is told at once that there is room for another."""
        moves = read("ready_i", U1) | read("valid_o", U1).equals(0)
        ready = {wire: (read(wire, U1), moves) for wire in ("ready_o", self._enable)}
        return {**ready, "valid_o": (read("valid_o", U1), self.bits(read)[-1])}

    def moves(self, read: Signals) -> Statement:
        """A shift register with an enable, which both resets of the two cycles empty."""
        later, kind = read.after(1), Int(self._depth, signed=False)
        moved = kind.wrap((self.word(read) << 1) | read("valid_i", U1))
        following = select(read("ready_o", U1), moved, self.word(read))
        resets = read("rst_ni", U1) & later("rst_ni", U1)
        return {self._wire: (self.word(later), select(resets, following, 0))}

    def reset(self, read: Signals) -> Statement:
        """At once, and after the next edge."""
        in_reset, later = read("rst_ni", U1).equals(0), read.after(1)
        both = (self.word(read), self.word(later))
        return {f"{self._wire} {k} edges on": (select(in_reset, word, 0), constant(0)) for k, word in enumerate(both)}

    def never_reset(self, edges: int) -> Callable[[Signals], Lane]:
        """No reset now and for so many edges."""
        return lambda read: all_of([read.after(k)("rst_ni", U1) for k in range(edges + 1)])

    def counts(self, read: Signals) -> Statement:
        """The inductive step: with it, and an empty start, the difference is what the pipeline holds at all times."""
        balance = _accepted(read) - _delivered(read)
        return {"beats held": (total(self.bits(read.after(1))), total(self.bits(read)) + balance)}

    def numbered(self, read: Signals) -> Lane:
        """The invariant: each beat held has its number, those before it in the pipeline having the next ones."""
        return self.never_reset(1)(read) & self._in_order(read, _ghosts(read, self._depth), *_counters(read))

    def _in_order(self, read: Signals, numbers: Sequence[Lane], accepted: Lane, delivered: Lane) -> Lane:
        bits = self.bits(read)
        expected = [U8.wrap(accepted - 1 - total(bits[:k])) for k in range(self._depth)]
        numbered = [bit.equals(0) | n.equals(e) for bit, n, e in zip(bits, numbers, expected, strict=True)]
        return all_of([*numbered, U8.wrap(accepted - delivered).equals(total(bits))])

    def order(self, read: Signals) -> Statement:
        """The invariant is kept, and the beat that leaves is the one whose turn it is."""
        numbers, (accepted, delivered) = _ghosts(read, self._depth), _counters(read)
        moved = [select(read("ready_o", U1), n, old) for n, old in zip([accepted, *numbers], numbers, strict=False)]
        after = (U8.wrap(accepted + _accepted(read)), U8.wrap(delivered + _delivered(read)))
        turn = _delivered(read).equals(0) | numbers[-1].equals(delivered)
        kept = self._in_order(read.after(1), moved, *after)
        return {"invariant": (kept, constant(1)), "the right turn": (turn, constant(1))}

    def taken(self, read: Signals) -> Lane:
        """Empty at first, one beat offered, and results always taken."""
        taking = [read.after(k)("ready_i", U1) for k in range(self._depth + 1)]
        alone = [read.after(k)("valid_i", U1).equals(0) for k in range(1, self._depth + 1)]
        empty = self.word(read).equals(0) & read("valid_i", U1)
        return all_of([empty, *taking, *alone, self.never_reset(self._depth + 1)(read)])

    def progress(self, read: Signals) -> Statement:
        """It is on the output after that many edges: not before, and not after."""
        seen = [read.after(k)("valid_o", U1) << k for k in range(self._depth + 2)]
        return {"valid_o, cycle by cycle": (total(seen), constant(1 << self._depth))}


def _accepted(read: Signals) -> Lane:
    return read("valid_i", U1) & read("ready_o", U1)


def _delivered(read: Signals) -> Lane:
    return read("valid_o", U1) & read("ready_i", U1)


def _ghosts(read: Signals, depth: int) -> list[Lane]:
    """The numbers beside the stages."""
    return [read(f"ghost.number_{k}", U8) for k in range(depth)]


def _counters(read: Signals) -> tuple[Lane, Lane]:
    """How many beats were accepted and delivered."""
    return read("ghost.accepted", U8), read("ghost.delivered", U8)
