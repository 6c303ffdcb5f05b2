"""Modes of FPCR that are not modelled: refused where they are set from outside, and read as 0 where MSR sets them."""

from __future__ import annotations

import numpy as np
import pytest

from isa.semantics.base.system import FPCR_BITS, FPCR_NOT_MODELLED
from sim import Batch, LanewiseError, Machine
from sim.call.captured import Bytes, read_line
from support.engines import CODE, PAGE

MSR_FPCR_X1, MRS_X2_FPCR = 0xD51B4401, 0xD53B4402


@pytest.mark.parametrize("name", FPCR_NOT_MODELLED)
def test_a_machine_refuses_a_mode_that_is_not_modelled_by_its_name(name: str) -> None:
    machine = Machine()
    with pytest.raises(LanewiseError, match=rf"sets {name}, which lanewise does not model"):
        machine.fpcr = 1 << FPCR_NOT_MODELLED[name] | 1 << 25
    assert machine.fpcr == 0


def test_a_reserved_bit_is_refused() -> None:
    with pytest.raises(LanewiseError, match="sets reserved bits"):
        Machine().fpcr = 1 << 31


def test_a_machine_takes_every_mode_that_is_modelled() -> None:
    machine = Machine()
    machine.fpcr = FPCR_BITS
    assert machine.fpcr == FPCR_BITS


def test_a_batch_refuses_it_for_any_member() -> None:
    batch = Batch(3)
    with pytest.raises(LanewiseError, match="sets AH"):
        batch.fpcr = np.array([0, 2, 0])
    assert batch.fpcr.tolist() == [0, 0, 0]


def test_a_captured_call_with_such_a_mode_is_refused() -> None:
    line = '{"id": "a", "entry": 65536, "ret": 0, "maps": [], "mem": [], "fpcr": 4}'
    read = read_line(1, line, Bytes.__new__(Bytes))
    assert (read.call, "sets NEP, which lanewise does not model" in read.error) == (None, True)


def test_what_a_program_writes_there_reads_as_on_a_processor_without_these_modes() -> None:
    machine = Machine()
    machine.memory.map(CODE, PAGE, "rx")
    machine.memory.write(CODE, b"".join(word.to_bytes(4, "little") for word in (MSR_FPCR_X1, MRS_X2_FPCR)))
    machine.pc, machine.x[1] = CODE, 2**64 - 1
    machine.run(max_instructions=2)
    assert machine.x[2] == FPCR_BITS == 0x07FF0000


def test_no_bit_is_both_modelled_and_not() -> None:
    assert [name for name, bit in FPCR_NOT_MODELLED.items() if FPCR_BITS >> bit & 1] == []
