"""Forms of the table on batches of random members, against a machine for each; `make batch` runs all of them."""

from __future__ import annotations

from random import Random

import pytest

from isa.encodings import recorded_words
from isa.lane import Int, Lane
from isa.rows import TABLE
from isa.semantics.elementwise import SIGNED, each
from long.batch_forms import MEMBERS, difference, differences, words_of
from support.batches import CODE, PAGE, Together

SHARE, CHUNKS = 12, 6
NAMES = list(recorded_words())[5::SHARE]
KINDS = (
    "add .4s,.4s,.4s", "sqadd .2d,.2d,.2d", "uqsub d,d,d", "sqrdmulh .8h,.8h,.h[i]", "sqrdmlah .4s,.4s,.4s",
    "srshl .2d,.2d,.2d", "uqrshl .4s,.4s,.4s", "sqxtn2 .4s,.2d", "pmull2 .1q,.2d,.2d", "tbl .16b,{4}.16b,.16b",
    "tbx .8b,{2}.16b,.8b", "zip1 .16b,.16b,.16b", "ext .16b,.16b,.16b,#", "rev64 .8h,.8h", "addv h,.8h",
    "sdot .4s,.16b,.4b[i]", "smull2 .2d,.4s,.4s", "urecpe .4s,.4s", "ld3 {3}.4h,[x],# post", "st4 {4}.8h,[x],x post",
    "adds x,x,x", "subs x,x,x", "sbcs x,x,x", "umulh x,x,x", "sdiv x,x,x", "extr x,x,x,#", "crc32x w,w,x", "rmif x,#,#",
    "csel x,x,x,cond", "cas x,x,[x]", "stxr w,x,[x]", "ldaxr x,[x]", "casp x,x,x,x,[x]", "ldp q,q,[x],# post", "bl #",
   "mrs x,fpsr",
    "fadd .4s,.4s,.4s", "fmla .4s,.4s,.4s", "fdiv .2d,.2d,.2d", "fsqrt .8h,.8h", "fcvtzs x,s",
    "fjcvtzs w,d", "fcmp d,d",
    "fmax .4s,.4s,.4s",
)  # fmt: skip
"""Forms of every kind of expression."""


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_share_of_the_forms_does_what_machines_do(chunk: int) -> None:
    names = NAMES[chunk::CHUNKS]
    found = [text for name in names if (text := difference(name, words_of(name)[0], rounds=3))]
    print(f"{len(names)} forms")
    assert names
    assert found == []


@pytest.mark.parametrize("name", KINDS)
def test_a_form_does_what_machines_do(name: str) -> None:
    assert list(differences([name])) == []


def wrapping_sum(to: Int, a: Lane, b: Lane) -> Lane:
    return to.wrap(a + b)


def test_a_wrong_batch_is_seen() -> None:
    wrong = TABLE.replacing("sqadd .4s,.4s,.4s", each(SIGNED, wrapping_sum))
    together = Together(MEMBERS, table=wrong)
    together.map(CODE, PAGE, "rx")
    together.write(CODE, words_of("sqadd .4s,.4s,.4s")[0].to_bytes(4, "little"))
    together.fill(Random(1))
    together.start(CODE)
    assert "machine" in together.run(max_instructions=1)
