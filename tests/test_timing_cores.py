"""Core files: what they say, what their reader refuses, and a core with something changed."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

from sim.timing.analysis.error_range import error_range
from sim.timing.classes.all_classes import CLASSES
from sim.timing.model.core import Core, Use
from sim.timing.model.core_file import CoreError, core_names, load_core

NAMES = (
    "apple-m1", "cortex-a510", "cortex-a53", "cortex-a55", "cortex-a72", "cortex-a73", "cortex-a76", "cortex-a78",
    "cortex-x1", "lane128", "neoverse-n1", "neoverse-v1",
)  # fmt: skip
CSEL = '"scalar csel" = { latency = 1, throughput = 1, uses = "X", basis = "assumed", source = "design" }\n'


PUBLISHED = Path(__file__).parent / "support" / "published_timing.txt"
"""Figures of classes on Cortex-A55, A72, Neoverse N1, Cortex-A53, Neoverse V1: latency/throughput[/accumulator's].

"-" where nothing is published of the class, nothing where it is not of the latency.
"""
VECTOR_LOADS = (
    "load vector 128 (ldr q)",
    "load pair 128 (ldp q)",
    *(f"LD1 {count} reg{'s' * (count > 1)} 128" for count in range(1, 5)),
    "LD1 lane (32-bit)",
    "LD1R (32-bit)",
    "LD2 128",
    "LD3 128",
    "LD4 128",
)
DEPARTURES = {
    ("cortex-a55", "ASIMD add/sub 64"): "two 64-bit operations share a cycle: the table has what one pipe takes",
    ("cortex-a55", "branch unconditional"): "1 is the pipe alone: a chain of taken branches takes 3",
    (
        "cortex-a55",
        "load pair 128 (ldp q)",
    ): "6 is LLVM's: the load pipe takes 2 a register, measured on Cortex-A53",
    ("cortex-a55", "store pair 128 (stp q)"): "1 is LLVM's: 16 bytes are written in a cycle, measured on Cortex-A53",
    **{
        ("cortex-a55", name): "back to back they do not follow each other: measured on Cortex-A53, SLOTHY forbids it"
        for name in ("store vector 128 (str q)", "ST1 1 reg 128")
    },
    **{
        ("cortex-a55", name): "3 is Cortex-A53's: kernels on this core wait a cycle more"
        for name in ("ASIMD saturating add 128", "ASIMD shift right rounding immediate")
    },
    **{
        ("neoverse-n1", name): "LLVM's: GCC's and SLOTHY's have Arm's own, as measured for ST4 and of lanes"
        for name in ("ST1 lane (32-bit)", "ST2 128", "ST4 128")
    },
    **{
        ("neoverse-n1", name): "4 is the source operand's, of what chains through it: GCC forwards the accumulator"
        for name in (
            "ASIMD pairwise add accumulate long",
            "ASIMD shift right accumulate",
            "ASIMD shift right rounding accumulate",
            "ASIMD multiply-accumulate long 8H",
        )
    },
    **{
        ("cortex-a53", name): "measured with an address as the consumer, which needs it a cycle sooner, or two"
        for name in (
            "load scalar 64 imm",
            "load scalar 64 reg lsl",
            "load scalar byte",
            "load scalar signed half",
        )
    },
    **{
        ("cortex-a53", name): "measured through the shifted operand, which is read a cycle early"
        for name in ("scalar ALU add shifted reg (lsl 2)", "scalar ALU add shifted reg (lsr 8)")
    },
    **{
        (
            "cortex-a53",
            name,
        ): "3 less than measured, the way back to an address: GCC has these, the table says it is in doubt"
        for name in VECTOR_LOADS
    },
    **{
        ("neoverse-v1", name): "without the half cycle, or up to one and a half, that the way back to an address takes"
        for name in VECTOR_LOADS
    },
    **{
        ("neoverse-v1", name): "LLVM's: the table's loop stores more than the first cache takes in time"
        for name in ("store pair 128 (stp q)", "ST2 128")
    },
    **{
        ("neoverse-v1", name): "2.3 to 2.4 on average: the next one is not always on the same of two pipes"
        for name in (
            "ASIMD absolute difference accumulate",
            "ASIMD multiply-accumulate 4S",
            "ASIMD multiply-accumulate long 4S",
            "ASIMD multiply-accumulate long high 4S",
        )
    },
    **{
        ("neoverse-v1", name): "LLVM's four a cycle: the table comes near, with as many registers as it has"
        for name in (
            "ASIMD dot product UDOT vector",
            "ASIMD dot product SDOT vector",
            "ASIMD dot product SDOT by element",
            "ASIMD FP fma 4S",
            "ASIMD FP fma by element 4S",
        )
    },
    ("neoverse-v1", "scalar move imm"): "six a cycle is of 0, which needs no pipe: four of other numbers",
    ("neoverse-v1", "ASIMD dup from GPR"): "half of the way there and back, less the transfer: 3 by LLVM",
    ("neoverse-v1", "branch unconditional"): "nothing waits for a branch: a chain of them takes their throughput",
    ("cortex-a53", "branch unconditional"): "nothing waits for a branch: a chain of them takes their throughput",
    ("cortex-a53", "ASIMD dup from GPR"): "2.5 is half of the way there and back: 3 there, as GCC has it, and 2 back",
    ("cortex-a72", "ASIMD sqrdmlah 8H (v8.1)"): "not on this core: assumed as an addition",
    ("cortex-a72", "ASIMD dot product UDOT vector"): "not on this core: assumed as an addition",
    ("cortex-a72", "ASIMD dot product SDOT vector"): "not on this core: assumed as an addition",
    ("cortex-a72", "ASIMD dot product SDOT by element"): "not on this core: assumed as an addition",
    ("cortex-a72", "ASIMD matrix multiply SMMLA (v8.6)"): "not on this core: assumed as an addition",
    ("cortex-a72", "ASIMD FP fma 8H (fp16)"): "not on this core: assumed as of 32-bit elements",
}
"""Where a core file states other figures than the published ones, and why."""


@pytest.fixture(scope="module")
def a72() -> Core:
    return load_core("cortex-a72")


def text_of(name: str) -> str:
    return (files("sim.timing") / "cores" / f"{name}.toml").read_text(encoding="utf-8")


def refusal(tmp_path: Path, text: str) -> str:
    """What the reader says about a file with this text, without the name of the file."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CoreError) as caught:
        load_core(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value).removeprefix(f"{path}: ")


def lane128_with(old: str, new: str) -> str:
    text = text_of("lane128")
    assert text.count(old) == 1, old
    return text.replace(old, new)


def test_the_cores_that_come_with_the_package() -> None:
    assert core_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_core_says_what_every_class_costs(name: str) -> None:
    assert tuple(load_core(name).classes) == CLASSES


@pytest.mark.parametrize("name", NAMES)
def test_a_core_cites_a_source_for_every_class(name: str) -> None:
    assert [timing.name for timing in load_core(name).classes.values() if not timing.source] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gone", ["scalar ALU add/sub reg", "ASIMD dot product SDOT vector", "FP round 64"])
def test_a_core_file_that_lacks_a_class_is_refused(tmp_path: Path, name: str, gone: str) -> None:
    without = re.sub(rf'^"{re.escape(gone)}" = .*\n', "", text_of(name), flags=re.MULTILINE)
    assert refusal(tmp_path, without) == f"the class {gone!r} is missing"


def test_what_the_line_of_a_class_leaves_out_is_usual() -> None:
    assert '"scalar csel" = { latency = 1, throughput = 0.5, uses = "ALU0|ALU1", basis = ' in text_of("cortex-a55")
    one = load_core("cortex-a55").timing("scalar csel")
    assert (one.slots, one.accumulate, one.group, one.merge) == (1, None, "", None)
    assert (one.first, one.merges, one.status) == (False, True, "modelled")


def test_a_copy_of_a_core_file_is_the_same_core(tmp_path: Path) -> None:
    (tmp_path / "copy.toml").write_text(text_of("cortex-a55"), encoding="utf-8")
    assert vars(load_core(str(tmp_path / "copy.toml"))) == vars(load_core("cortex-a55"))


def published(column: int) -> dict[str, list[Fraction | None]]:
    lines = (line.split(" | ") for line in PUBLISHED.read_text(encoding="utf-8").splitlines())
    return {
        line[0]: [Fraction(figure) if figure else None for figure in line[column].split("/")]
        for line in lines
        if line[column] != "-"
    }


@pytest.mark.parametrize(
    ("name", "column"),
    [("cortex-a55", 1), ("cortex-a72", 2), ("neoverse-n1", 3), ("cortex-a53", 4), ("neoverse-v1", 5)],
)
def test_a_core_file_states_the_published_figures_but_for_some_with_a_reason(name: str, column: int) -> None:
    core = load_core(name)
    other = set()
    for class_name, figures in published(column).items():
        timing = core.timing(class_name)
        stated = timing.latency, timing.throughput, timing.accumulate
        if any(figure not in (None, own) for figure, own in zip(figures, stated, strict=False)):
            other.add((name, class_name))
    assert other == {key for key in DEPARTURES if key[0] == name}


def test_an_unknown_core_is_refused_with_those_that_exist() -> None:
    with pytest.raises(CoreError) as caught:
        load_core("cortex-a99")
    assert str(caught.value) == f"there is no core 'cortex-a99': give {', '.join(NAMES)} or a core file"
    with pytest.raises(CoreError, match=r"no core 'a53' \(did you mean cortex-a53\?\): give "):
        load_core("a53")


BAD_CLASSES = [
    ('latency = 1, ', 'latency = 1, latnecy = 1, ', "'scalar csel': the line: the key 'latnecy' is unknown; "),
    ("latency = 1, ", "", "'scalar csel': the line: latency is missing"),
    ("latency = 1, ", "latency = -1, ", "'scalar csel': -1 is not between 0 and 10000"),
    ("latency = 1, ", 'latency = "fast", ', "'scalar csel': 'fast' is not a number of cycles"),
    ("latency = 1, ", "latency = true, ", "'scalar csel': True is not a number of cycles"),
    ("latency = 1, ", "latency = 1e9999, ", "'1e9999' is not a number of cycles"),
    ("latency = 1, ", "latency = nan, ", "'nan' is not a number of cycles"),
    ("latency = 1, ", "latency = 99999999, ", "'scalar csel': 99999999 is not between 0 and 10000"),
    ('uses = "X"', 'uses = "X|Y"', "'scalar csel': there is no pipe 'Y'; the pipes are X, LANE, MEM, B"),
    ('uses = "X"', 'uses = "X*"', "'scalar csel': 'X*' is not a use of a pipe, such as F0|F1*2@1"),
    ('uses = "X"', 'uses = "X +"', "'scalar csel': '' is not a use of a pipe, such as F0|F1*2@1"),
    ('uses = "X"', 'uses = "X*0"', "'scalar csel': a pipe that is used for 0 cycles is not used: leave it out"),
    ('uses = "X"', 'uses = "X*1.2.3"', "'scalar csel': '1.2.3' is not a number of cycles"),
    ('uses = "X"', "uses = 1", "'scalar csel': uses: 1 is not a text"),
    ('uses = "X"', 'uses = "X", slots = 0', "'scalar csel': slots: 0 is not a whole number of at least 1"),
    ('uses = "X"', 'uses = "X", slots = true', "'scalar csel': slots: True is not a whole number of at least 1"),
    ('uses = "X"', 'uses = "X", slots = 1000001', "'scalar csel': slots: it is more than 1000000"),
    ('uses = "X"', 'uses = "X", accumulate = 1', "'scalar csel': accumulate and group go together"),
    ('uses = "X"', 'uses = "X", merge = 2', "'scalar csel': merge is no more than the latency, and without accumulate"),
    (
        'uses = "X"', 'uses = "X", accumulate = 1, group = "mla", merge = 1',
        "'scalar csel': merge is no more than the latency, and without accumulate",
    ),
    ('uses = "X"', 'uses = "X", group = "mla"', "'scalar csel': accumulate and group go together"),
    ('uses = "X"', 'uses = "X", first = 1', "'scalar csel': first: 1 is neither true nor false"),
    ('uses = "X"', 'uses = "X", status = "maybe"', "'scalar csel': status: 'maybe' is not one of modelled, "),
    ('basis = "assumed"', 'basis = "guess"', "'scalar csel': basis: 'guess' is not one of measured, "),
    ('source = "design"', 'source = "dream"', "'scalar csel': the line: 'dream' is not one of the sources design"),
    ('source = "design"', 'source = " "', "'scalar csel': the line: source: ' ' is not a line of text"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "sentence"), BAD_CLASSES)
def test_a_bad_line_of_a_class_is_refused(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    text = lane128_with(CSEL, CSEL.replace(old, new))
    assert refusal(tmp_path, text).startswith(sentence)


BAD_FILES = [
    (CSEL, CSEL.replace("csel", "cesl"), "'scalar cesl' is not an instruction class"),
    (CSEL, CSEL + CSEL, "Cannot overwrite a value (at line "),
    (CSEL, '"scalar csel" = 1\n', "'scalar csel': the line: 1 is not a table"),
    ('name = "lane128"', "", "the file: name is missing"),
    ('name = "lane128"', 'name = "lane128"\ncolour = 1', "the file: the key 'colour' is unknown; known are "),
    ('name = "lane128"', 'name = " "', "name: ' ' is not a line of text"),
    ('order = "in"', 'order = "out of"', "order: 'out of' is not one of in, out"),
    ('pipes = ["X", ', 'pipes = ["X", "X", ', "pipes: ['X', 'X', 'LANE', 'MEM', 'B'] are not different names"),
    ('pipes = ["X", ', 'pipes = ["X", "1", ', "pipes: ['X', '1', 'LANE', 'MEM', 'B'] are not different names"),
    ('pipes = ["X", "LANE", "MEM", "B"]', 'pipes = "X"', "pipes: 'X' is not a list"),
    ("width = { value = 1,", "width = { value = 0,", "width: the width must be at least 1"),
    ("width = { value = 1,", "width = { value = 1.5,", "width: 3/2 is not a whole number"),
    ("width = { value = 1,", "width = {", "width: value is missing"),
    ("in_turn = { value = 0,", "in_turn = { value = 2,", "in_turn: 2 is not 0 or 1"),
    ("writeback = { value = 1,", "written = { value = 1,", "parameters: writeback is missing"),
    ('[sources]\n', '[sources]\nother = "x"\n', "nothing comes from the source 'other': leave it out"),
    ("[about]", "[queues]\nY = { entries = 1, source = 'design' }\n[about]", "queues: there is no pipe 'Y'; "),
    ("[about]", "[queues]\nX = { entries = 0, source = 'design' }\n[about]", "the queue of X: entries: 0 is not a "),
    ("[about]", "[queues]\nX = { entries = 1000001, source = 'design' }\n[about]",
     "the queue of X: entries: it is more than 1000000"),
    ("[about]", "[[levels]]\nname = 'L1'\nsize = 0x40000001\nways = 1\nline = 1\nsource = 'design'\n[about]",
     "L1: size: it is more than 1073741824"),
    ("[about]", "[[levels]]\nname = 'L1'\n[about]", "levels: size is missing"),
    ("[about]", "[[levels]]\nname = 'L1'\nsize = 100\nways = 3\nline = 64\nsource = 'design'\n[about]",
     "L1: 100 bytes are not 3 ways of lines of 64 bytes"),
    ("not_modelled = [", "modelled = [", "about: not_modelled is missing"),
    ('basis = "model"', 'basis = "hope"', "clock: basis: 'hope' is not one of measured, "),
    ("[clock]\nmegahertz", "[clock]\nhertz", "clock: megahertz is missing"),
    ("[clock]\nmegahertz = ", "[clock]\nmegahertz = 0 # ", "clock: 0 is not a number of MHz above 0, up to 1000000"),
    ("[clock]\nmegahertz = ", "[clock]\nmegahertz = 'fast' # ", "clock: 'fast' is not a number of MHz above 0, "),
    ("[classes]", "[[validation]]\nkernels = 'all'\n[classes]", "validation: error is missing"),
    ("[classes]", "[classes", "Expected ']' at the end of a table declaration (at line "),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "sentence"), BAD_FILES)
def test_a_bad_core_file_is_refused(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert refusal(tmp_path, lane128_with(old, new)).startswith(sentence)


UNSEEN = """split = "some"
[[unseen]]
project = "p"
family = "f"
rows = 1
source = "design"
mean_absolute = """


@pytest.mark.parametrize(
    ("figures", "sentence"),
    [
        ("100", "unseen, f: mean_absolute: 100 below a mean of 0 percent is no error of an estimate"),
        ("100\nlargest = -99", ""),
        ("100\nlargest = 100", "unseen, f: mean_absolute: 100 below"),
        ("99.5", ""),
        ("99.5\nmean = -1", "unseen, f: mean_absolute: 199/2 below a mean of -1 percent is no"),
        ("150\nmean = 51", ""),
    ],
)
def test_errors_that_no_estimate_has_are_refused(tmp_path: Path, figures: str, sentence: str) -> None:
    text = text_of("lane128")
    at = text.index("\n[", text.index("[about]") + 1)
    path = tmp_path / "mine.toml"
    path.write_text(text[:at] + "\n" + UNSEEN + figures + "\n" + text[at:], encoding="utf-8")
    if sentence:
        with pytest.raises(CoreError, match=sentence):
            load_core(str(path))
    else:
        error = error_range(load_core(str(path)))
        assert error is not None
        assert error.cycles(1000)[0] > 0


def test_a_core_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(CoreError, match=r"mine\.toml is no core file: it is not text in UTF-8"):
        load_core(str(path))


def test_a_core_file_nested_too_deep_is_refused(tmp_path: Path) -> None:
    assert "recursion" in refusal(tmp_path, "x = " + "[" * 100_000)


def test_several_sources_are_all_cited() -> None:
    cited = load_core("cortex-a55").timing("scalar ALU add/sub reg").source
    assert [text in cited for text in ("slothy", "cortex-a53", "LLVM")] == [True, True, True]


def test_a_parameter_has_its_source(a72: Core) -> None:
    assert a72.about.parameters["mispredict"].startswith("LLVM model of Cortex-A57")


def test_only_the_core_of_our_own_has_a_clock() -> None:
    assert [name for name in NAMES if load_core(name).clock] == ["lane128"]


def test_a_clock_has_its_source() -> None:
    clock = load_core("lane128").clock
    assert clock
    assert clock.source.startswith("lanewise rtl synth rescale --lanes 4 --profile deep ")


def test_fractions_are_kept_as_they_are_stated(a72: Core) -> None:
    assert a72.timing("ASIMD table lookup 1 reg").latency == Fraction("6.27")


def test_uses_are_alternatives_of_so_many_cycles_from_some_cycle_on() -> None:
    changed = load_core("cortex-a55").with_uses("scalar csel", "ALU0|ALU1 + LD*2.5 + FP0*2@1")
    uses = (Use(("ALU0", "ALU1"), Fraction(1), 0), Use(("LD",), Fraction(5, 2), 0), Use(("FP0",), Fraction(2), 1))
    assert changed.timing("scalar csel").uses == uses


def test_no_use_is_the_empty_text(a72: Core) -> None:
    assert a72.with_uses("scalar csel", " ").timing("scalar csel").uses == ()


def test_with_another_latency_only_that_class_differs(a72: Core) -> None:
    changed = a72.with_latency("scalar csel", 7)
    assert {n for n in CLASSES if changed.timing(n) != a72.timing(n)} == {"scalar csel"}


def test_another_latency_may_be_a_text(a72: Core) -> None:
    assert a72.with_latency("scalar csel", "2.5").timing("scalar csel").latency == Fraction(5, 2)


@pytest.mark.parametrize(
    ("name", "value", "expected"), [("width", 5, 5), ("taken_branch_interval", "2.5", Fraction(5, 2))]
)
def test_with_another_parameter(a72: Core, name: str, value: int | str, expected: int | Fraction) -> None:
    assert getattr(a72.with_parameter(name, value), name) == expected


def test_with_another_queue_the_others_stay(a72: Core) -> None:
    assert a72.with_parameter("queues.F0", 4).queues == {**a72.queues, "F0": 4}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("width", 0, "the width must be at least 1"),
        ("width", "1.5", "1.5 is not a whole number"),
        ("mispredict", "soon", "'soon' is not a number of cycles"),
        ("mispredict", "\u0663", "'\u0663' is not a number of cycles"),
        ("mispredict", -1, "-1 is not between 0 and 1000000"),
        ("queues.X9", 1, "'queues.X9' is not a parameter of a core: width, "),
        ("classes", 1, "'classes' is not a parameter of a core: width, "),
    ],
)
def test_a_bad_parameter_is_refused(a72: Core, name: str, value: int | str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        a72.with_parameter(name, value)


def test_an_unknown_class_is_refused(a72: Core) -> None:
    with pytest.raises(ValueError, match=r"^'scalar cesl' is not an instruction class$"):
        a72.with_latency("scalar cesl", 1)


def test_an_instruction_takes_no_more_than_ten_thousand_cycles(a72: Core) -> None:
    """A schedule is made cycle by cycle: of a million each it took minutes."""
    assert a72.with_latency("scalar csel", 10_000).timing("scalar csel").latency == 10_000
    with pytest.raises(ValueError, match=r"^10000\.5 is not between 0 and 10000$"):
        a72.with_latency("scalar csel", "10000.5")
    with pytest.raises(ValueError, match=r"^10000\.5 is not between 0 and 10000$"):
        a72.with_uses("scalar csel", "B*10000.5")
    with pytest.raises(ValueError, match=r"^10001 is not between 0 and 10000$"):
        a72.with_uses("scalar csel", "B@10001")


def test_uses_of_an_unknown_pipe_are_refused(a72: Core) -> None:
    with pytest.raises(ValueError, match=r"^there is no pipe 'FP0'; the pipes are B, I0, "):
        a72.with_uses("scalar csel", "FP0")


def figures(name: str) -> dict[str, tuple[object, ...]]:
    """What each class takes on a core, without whose figure it is."""
    return {
        key: (one.latency, one.throughput, one.uses, one.accumulate, one.group, one.merge, one.slots)
        for key, one in load_core(name).classes.items()
    }


def test_cortex_a76_has_the_figures_of_neoverse_n1_and_says_so() -> None:
    core, other = load_core("cortex-a76"), load_core("neoverse-n1")
    assert figures("cortex-a76") == figures("neoverse-n1")
    assert {one.basis for one in core.classes.values()} == {"inferred", "assumed"}
    assert all(one.source.startswith("as Neoverse N1 has it") for one in core.classes.values())
    mine = [one for one in core.about.unseen if one.project == "dav1d"]
    stated = {(one.family, one.rows, one.mean_absolute, one.mean, one.largest) for one in other.about.unseen}
    assert {(one.family, one.rows, one.mean_absolute, one.mean, one.largest) for one in mine} < stated
    assert {one.project for one in core.about.unseen} == {"dav1d", "FFmpeg"}


def test_cortex_a73_has_the_figures_of_cortex_a72_and_says_that_they_are_assumed() -> None:
    assert figures("cortex-a73") == figures("cortex-a72")
    assert {one.basis for one in load_core("cortex-a73").classes.values()} == {"assumed"}


def test_cortex_a78_is_cortex_x1_with_half_of_its_vector_pipes() -> None:
    mine, other = load_core("cortex-a78").classes, load_core("cortex-x1").classes
    assert {name for name in mine if mine[name].latency != other[name].latency} == set()
    assert {one.basis for one in mine.values()} == {"inferred", "assumed"}
    assert not any(pipe in ("V2", "V3") for one in mine.values() for use in one.uses for pipe in use.pipes)
    dearer = {mine[name].throughput / other[name].throughput for name in mine}
    assert max(dearer) == 2
    assert min(dearer) == 1
    assert mine["ASIMD add/sub 128"].uses == (Use(("V0", "V1"), Fraction(1), 0),)
    assert mine["ASIMD multiply 8H"].uses == (Use(("V0",), Fraction(1), 0),)


def test_apple_m1_has_every_unit_of_its_source_and_no_forwarding_of_vector_accumulators() -> None:
    core = load_core("apple-m1")
    used = {pipe for one in core.classes.values() for use in one.uses for pipe in use.pipes}
    assert used == set(core.pipes)
    assert {name for name, one in core.classes.items() if one.group} == {
        "scalar madd 32", "scalar madd 64", "scalar smull/smaddl",
    }  # fmt: skip


def test_cortex_a510_has_one_model_and_no_measured_figure() -> None:
    assert {one.basis for one in load_core("cortex-a510").classes.values()} == {"model", "inferred", "assumed"}


def test_cortex_x1_departs_from_neoverse_v1_where_its_table_does() -> None:
    """AESE, PMULL of 64 bits: 2 a cycle, not 4; ADDV of bytes: 0.81 a cycle, not 0.73."""
    mine, other = figures("cortex-x1"), figures("neoverse-v1")
    assert {name: mine[name][1] for name in mine if mine[name] != other[name]} == {
        "AES (aese, aesmc)": Fraction(1, 2),
        "ASIMD polynomial multiply long 128": Fraction(1, 2),
        "ASIMD reduce add 16B (addv)": Fraction(123, 100),
    }


def test_cores_of_the_same_extensions_lack_the_same_classes() -> None:
    lacking = [
        {key for key, one in load_core(name).classes.items() if one.status == "absent"}
        for name in ("cortex-x1", "cortex-a76", "neoverse-n1")
    ]
    assert lacking[0] == lacking[1] == lacking[2] != set()
