"""Where branches go, as their texts say it, and loops that what stands in front of them is told with."""

from __future__ import annotations

import pytest

from isa.decode import decode
from sim.toolchain.branches import branch_target, is_before_loop, with_targets
from sim.toolchain.compilers import build_text

AT = 0x1000
HEAD = 0x0FF8


@pytest.mark.parametrize(
    ("word", "target"),
    [
        (0x17FFFFFE, HEAD),  # b
        (0x54FFFFC1, HEAD),  # b.ne
        (0x34FFFFC3, HEAD),  # cbz w3
        (0xB5FFFFC3, HEAD),  # cbnz x3
        (0x3637FFC3, HEAD),  # tbz w3, #6
        (0xB737FFC3, HEAD),  # tbnz x3, #38
        (0x17FFFC02, 8),  # b, to an address of one digit
        (0x17FFFC00, 0),
        (0x97FFFFFE, None),  # bl: it comes back
        (0xD61F0060, None),  # br x3
        (0xD65F03C0, None),  # ret
        (0x10FFFFC3, None),  # adr x3
        (0x58FFFFC3, None),  # ldr x3
    ],
)
def test_where_a_branch_leads_is_what_its_encoding_says(word: int, target: int | None) -> None:
    """The words are of Arm ARM C6.2: an offset in words from the branch, of 26, 19 or 14 bits."""
    assert branch_target(decode(word.to_bytes(4, "little"), AT).text) == target


LOOPS = """
    .text
    .globl outer, after
outer:
    mov x3, #7
.Linner:
    add x2, x2, x3
    subs x0, x0, #1
    b.ne .Linner
    ret
    .size outer, . - outer
after:
    b outer
    bl outer
    cbz x0, outer + 8
    ret
    .size after, . - after
"""


def test_a_branch_to_a_function_is_told_by_its_name_and_into_one_by_its_place() -> None:
    image = build_text(LOOPS, ".s")
    start = image.symbol("after").address
    texts = [decode(image.code_of("after")[at : at + 4], start + at).text for at in (0, 4, 8)]
    told = [with_targets(text, image) for text in texts]
    assert [text.split()[0] for text in told] == ["b", "bl", "cbz"]
    assert [text.split()[-1] for text in told[:2]] == ["outer", "outer"]
    assert "#0x" not in told[2]


def test_in_a_listing_a_place_without_a_line_keeps_its_address() -> None:
    image = build_text(LOOPS, ".s", "-g0")
    start, at = image.symbol("after").address, image.symbol("outer").address + 8
    text = decode(image.code_of("after")[8:12], start + 8).text
    assert with_targets(text, image) == "cbz x0, outer+0x8"
    assert with_targets(text, image, addresses=True) == f"cbz x0, #{at:#x}"
    assert with_targets(f"b #{start:#x}", image, addresses=True) == "b after"


def test_an_unconditional_branch_back_is_no_loop_that_something_stands_in_front_of() -> None:
    """It closes a loop of -O0 code, whose lines are where they were written."""
    text = "int f(const int *a, int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }"
    image = build_text(text, ".c", "-O0", "-g")
    start = image.symbol("f").address
    assert not any(is_before_loop(start + at, image) for at in range(0, len(image.code_of("f")), 4))
