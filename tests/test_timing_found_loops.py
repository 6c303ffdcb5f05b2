"""Loops found in an executed stream.  Comments number the instructions of the stream."""

from __future__ import annotations

import pytest

from sim.cycles.executed import recorded_stream
from sim.machine.machine import Machine
from sim.timing.loops.found_loops import Entry, FoundLoop, Steady, find_loops, hottest, steady
from sim.timing.model.stream import Executed
from sim.toolchain.compilers import build_text

CODE, DATA, END = 0x11000, 0x200000, 0xDEAD0000


def run(text: str) -> list[Executed]:
    """The stream of a function, from its first instruction to its return; x0 points to 4096 bytes."""
    image = build_text(f".globl f\nf:\n{text}", ".s")
    machine = Machine()
    machine.memory.map(CODE, 4096, "rx")
    machine.memory.write(CODE, next(s.data for s in image.segments if s.address == CODE))
    machine.memory.map(DATA, 4096, "rw")
    machine.x[0], machine.x[30], machine.sp, machine.pc = DATA, END, DATA + 4096, CODE
    return list(recorded_stream(machine, END, 10_000))


def one_loop(text: str) -> FoundLoop:
    (loop,) = find_loops(run(text))
    return loop


def spans(loop: FoundLoop) -> list[list[tuple[int, int]]]:
    """By entry, the first index and the one behind the last of every iteration."""
    return [[(iteration.start, iteration.stop) for iteration in entry.iterations] for entry in loop.entries]


def test_the_iterations_of_a_loop_are_index_ranges() -> None:
    loop = one_loop("mov x1, #3\n.La: add x2, x2, #1\n subs x1, x1, #1\n b.ne .La\n ret")
    assert (loop.head, loop.branches, spans(loop)) == (CODE + 4, (CODE + 12,), [[(1, 4), (4, 7), (7, 10)]])


def test_a_branch_forward_to_the_head_is_none_of_the_loop() -> None:
    loop = one_loop("mov x1, #3\n b .La\n nop\n.La: add x2, x2, #1\n subs x1, x1, #1\n b.ne .La\n ret")
    assert (loop.head, loop.branches, spans(loop)) == (CODE + 12, (CODE + 20,), [[(2, 5), (5, 8), (8, 11)]])


def test_a_body_may_differ_from_iteration_to_iteration() -> None:
    # 0 mov, then x1 = 3: skips nop; 2: with nop; 1: skips
    text = "mov x1, #3\n.La: tbnz w1, #0, 1f\n nop\n1: subs x1, x1, #1\n b.ne .La\n ret"
    assert spans(one_loop(text)) == [[(1, 4), (4, 8), (8, 11)]]


def test_a_loop_that_is_tested_at_its_head_ends_with_its_last_branch_back() -> None:
    loop = one_loop("mov x1, #2\n.La: cbz x1, 1f\n sub x1, x1, #1\n b .La\n1: ret")
    assert (spans(loop), loop.entries[0].end) == ([[(1, 4), (4, 7)]], 8)


def test_a_rotated_loop_begins_at_its_head_though_it_is_entered_at_its_test() -> None:
    # 0 mov, 1 b, 2 cbnz, then (add, sub, cbnz) twice
    loop = one_loop("mov x1, #2\n b 1f\n.La: add x2, x2, #1\n sub x1, x1, #1\n1: cbnz x1, .La\n ret")
    assert (spans(loop), loop.entries[0].start, loop.entries[0].end) == ([[(3, 6), (6, 9)]], 2, 9)


def test_a_loop_left_early_keeps_its_whole_iterations() -> None:
    # 0 mov; x1 = 1: 1-4; x1 = 2: 5-8; x1 = 3: 9 add, 10 cmp, 11 b.eq leaves
    text = "mov x1, #0\n.La: add x1, x1, #1\n cmp x1, #3\n b.eq 1f\n b .La\n1: ret"
    loop = one_loop(text)
    assert (spans(loop), loop.entries[0].end) == ([[(1, 5), (5, 9)]], 12)


def test_a_loop_entered_many_times_has_an_entry_for_each() -> None:
    # 0 mov x3; outer: mov x1; inner twice 2 instructions; subs, b.ne
    text = "mov x3, #2\n.Lo: mov x1, #2\n.Li: subs x1, x1, #1\n b.ne .Li\n subs x3, x3, #1\n b.ne .Lo\n ret"
    outer, inner = find_loops(run(text))
    assert spans(outer) == [[(1, 8), (8, 15)]]
    assert spans(inner) == [[(2, 4), (4, 6)], [(9, 11), (11, 13)]]
    assert [entry.around for entry in (*outer.entries, *inner.entries)] == [None, outer.head, outer.head]


def test_what_loops_inside_execute_is_counted_there() -> None:
    text = "mov x3, #2\n.Lo: mov x1, #2\n.Li: subs x1, x1, #1\n b.ne .Li\n subs x3, x3, #1\n b.ne .Lo\n ret"
    outer, inner = find_loops(run(text))
    assert (outer.instructions, inner.instructions, hottest((outer, inner))) == (6, 8, inner)


def test_nested_rotated_loops_keep_their_nesting() -> None:
    # the first row is entered at its test: it belongs to the outer loop's entry, though to none of its iterations
    text = """ mov x3, #2
    b .Lotest
.Lo: mov x1, #2
    b .Litest
.Li: nop
.Litest: subs x1, x1, #1
    b.ne .Li
.Lotest: subs x3, x3, #1
    b.pl .Lo
    ret"""
    outer, inner = find_loops(run(text))
    # 0 mov 1 b | 2 subs 3 b.pl | 4 mov 5 b 6 subs 7 b.ne 8 nop 9 subs 10 b.ne 11 subs 12 b.pl | 13 ... 21
    assert spans(outer) == [[(4, 13), (13, 22)]]
    assert spans(inner) == [[(8, 11)], [(17, 20)]]
    assert [entry.around for entry in inner.entries] == [outer.head, outer.head]


def test_a_call_belongs_to_the_iteration_that_makes_it() -> None:
    # 0 mov x9, 1 mov x1; (bl, nop, ret, subs, b.ne) twice; mov x30; ret
    loop = one_loop(
        "mov x9, x30\n mov x1, #2\n.La: bl g\n subs x1, x1, #1\n b.ne .La\n mov x30, x9\n ret\ng: nop\n ret"
    )
    assert (spans(loop), loop.calls) == ([[(2, 7), (7, 12)]], (CODE + 28,))


def test_a_loop_of_a_called_function_is_inside_of_the_calling_loop() -> None:
    text = """ mov x9, x30
    mov x3, #2
.Lo: bl g
    subs x3, x3, #1
    b.ne .Lo
    mov x30, x9
    ret
g:  mov x1, #2
.Li: subs x1, x1, #1
    b.ne .Li
    ret"""
    outer, inner = find_loops(run(text))
    # 0 mov 1 mov | 2 bl 3 mov 4 subs 5 b.ne 6 subs 7 b.ne 8 ret 9 subs 10 b.ne | 11 ...
    assert (spans(outer), spans(inner)) == ([[(2, 11), (11, 20)]], [[(4, 6), (6, 8)], [(13, 15), (15, 17)]])
    assert [entry.around for entry in inner.entries] == [outer.head, outer.head]


def test_a_recursive_call_runs_through_the_loop_of_its_own() -> None:
    # f(n): x1 = 2 times { if n: n -= 1, f(n) }; the frame keeps x1 and x30
    text = """ mov x9, #1
    stp x1, x30, [sp, #-16]!
    mov x1, #2
.La: cbz x9, 1f
    sub x9, x9, #1
    bl f+4
1:  subs x1, x1, #1
    b.ne .La
    ldp x1, x30, [sp], #16
    ret"""
    loop = one_loop(text)
    # 0 mov 1 stp 2 mov | 3 cbz 4 sub 5 bl [6 stp 7 mov | 8 9 10 | 11 12 13 | 14 ldp 15 ret] 16 17 | 18 19 20
    assert spans(loop) == [[(3, 18), (18, 21)], [(8, 11), (11, 14)]]
    assert [entry.around for entry in loop.entries] == [None, loop.head]


def test_a_loop_with_two_branches_back_is_one() -> None:
    # x1 = 3: odd, goes on (5); x1 = 2: 'continue' (3); x1 = 1: goes on
    text = """ mov x1, #4
.La: sub x1, x1, #1
    tbz w1, #0, .Lc
    nop
    cbnz x1, .La
    b 1f
.Lc: cbnz x1, .La
1:  ret"""
    loop = one_loop(text)
    # 0 | x1=3: 1 sub 2 tbz 3 nop 4 cbnz | x1=2: 5 sub 6 tbz 7 cbnz | x1=1: 8 9 10 11 | x1=0: 12 sub 13 tbz 14 cbnz
    assert (len(loop.branches), spans(loop)) == (2, [[(1, 5), (5, 8), (8, 12), (12, 15)]])


def test_a_block_behind_the_loop_belongs_to_it() -> None:
    # the loop leaves its addresses for a cold block in its second iteration and comes back into its middle
    text = """ mov x1, #3
.La: cmp x1, #2
    b.eq .Lcold
.Lb: subs x1, x1, #1
    b.ne .La
    ret
.Lcold: nop
    b .Lb"""
    loop = one_loop(text)
    # 0 | 1 cmp 2 b.eq 3 subs 4 b.ne | 5 cmp 6 b.eq 7 nop 8 b 9 subs 10 b.ne | 11 12 13 14 | 15 ret
    assert spans(loop) == [[(1, 5), (5, 11), (11, 15)]]


def test_an_outer_loop_may_end_before_its_inner_one() -> None:
    text = """ mov x3, #2
    b .Lrow
.Lo: nop
.Lrow: mov x1, #2
.Li: subs x1, x1, #1
    b.ne .Lmore
    subs x3, x3, #1
    b.ne .Lo
    ret
.Lmore: nop
    b .Li"""
    outer, inner = find_loops(run(text))
    # 0 mov 1 b | 2 mov 3 subs 4 b.ne 5 nop 6 b 7 subs 8 b.ne 9 subs 10 b.ne | 11 nop 12 mov 13 subs ... | 21 ret
    assert (spans(outer), outer.entries[0].start) == ([[(11, 21)]], 2)
    assert (spans(inner), [entry.around for entry in inner.entries]) == ([[(3, 7)], [(13, 17)]], [outer.head] * 2)


def test_a_loop_goes_on_behind_its_last_branch() -> None:
    text = """ mov x1, #5
.La: nop
.Lm: sub x1, x1, #1
    cbz x1, 1f
    tbnz w1, #0, .La
    b .Lm
1:  ret"""
    outer, inner = find_loops(run(text))
    # 0 | 1 nop 2 sub (4) 3 cbz 4 tbnz 5 b 6 sub (3) 7 cbz 8 tbnz | 9 ... 16 | 17 nop 18 sub (0) 19 cbz | 20 ret
    assert (spans(outer), outer.entries[0].end) == ([[(1, 9), (9, 17)]], 20)
    assert spans(inner) == [[(2, 6)], [(10, 14)], []]


def test_a_loop_may_be_closed_by_a_branch_to_a_register() -> None:
    text = """ adr x5, .La
    adr x6, .Lm
    mov x1, #4
.La: nop
.Lm: sub x1, x1, #1
    cmp x1, #1
    b.eq 1f
    tst x1, #1
    csel x7, x5, x6, ne
    br x7
1:  ret"""
    loop, _ = find_loops(run(text))
    # 0 adr 1 adr 2 mov | 3 nop 4 sub (3) ... 9 br to .La | 10 nop 11 sub (2) ... 16 br to .Lm ... 19 b.eq | 20 ret
    assert (spans(loop), loop.entries[0].end) == ([[(3, 10)]], 20)


def test_a_loop_is_over_where_it_is_left_first() -> None:
    loop = one_loop("mov x1, #2\n.La: subs x1, x1, #1\n b.ne .La\n nop\n b 1f\n nop\n1: ret")
    assert loop.entries[0].end == 5


def test_a_branch_to_an_earlier_function_is_no_loop() -> None:
    text = """ b .Lstart
g:  ret
.Lstart: nop
    b g"""
    assert find_loops(run(text)) == ()


def test_straight_code_has_no_loop() -> None:
    assert hottest(find_loops(run("nop\n ret"))) is None


@pytest.mark.parametrize(("count", "expected"), [(1, None), (2, (2, 4, 1)), (4, (2, 8, 3)), (9, (6, 18, 6))])
def test_the_steady_part_leaves_out_a_quarter(count: int, expected: Steady | None) -> None:
    """Iterations of two instructions each, from index 1 on, and so the n-th of them ends at 2n; one is no loop."""
    loops = find_loops(run(f"mov x1, #{count}\n.La: subs x1, x1, #1\n b.ne .La\n ret"))
    assert [steady(loop.longest) for loop in loops] == ([expected] if expected else [])


def test_what_is_run_through_once_or_never_whole_is_not_steady() -> None:
    once = Entry(CODE, 0, 4, (range(4),))
    assert [steady(once), steady(once._replace(iterations=()))] == [None, None]
