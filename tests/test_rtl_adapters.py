"""Adapter files: what they may say, and that whatever else they say is one sentence."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from rtl_models.adapters import MalformedAdapter, read_adapter, require_fitting
from rtl_models.adapters.file import unit_ports
from rtl_models.tools.sources import LANES
from rtl_models.unit_harness import harness
from rtl_models.units import CLOCKED, UNITS, setting_bits, stream_ports
from support.command import lanewise
from support.own_unit import ADAPTER, EXAMPLE

RIGHT = ADAPTER.read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The example in a folder of its own."""
    shutil.copytree(EXAMPLE, tmp_path / "mine")
    return tmp_path / "mine"


def refusal(folder: Path, text: str) -> str:
    """What is said of an adapter, behind the name of its file."""
    (folder / "adapter.toml").write_text(text)
    with pytest.raises(MalformedAdapter) as caught:
        read_adapter(folder / "adapter.toml")
    assert caught.value.exit_code == 2
    return str(caught.value).removeprefix(f"{folder / 'adapter.toml'}: ")


@pytest.mark.parametrize(
    ("right", "wrong", "sentence"),
    [
        ('unit = "quantize_down"', 'unit = "sqadd"', "unit is 'sqadd', an operator, which has no stream"),
        ('unit = "quantize_down"', 'unit = "sqad"', "unit is 'sqad': give one of quantize_down, "),
        (
            'unit = "quantize_down"',
            'unit = "requantise"',
            "unit is 'requantise' (did you mean requantize?): give one of ",
        ),
        (
            'unit = "quantize_down"',
            'unit = "sdot4"',
            "unit is 'sdot4', an operator, which has no stream and no adapter: "
            "put a module sdot4 with the ports a_i, b_i, accumulator_i, result_o, saturated_o around yours, and ",
        ),
        ('unit = "quantize_down"', "", "unit is missing: give one of "),
        ('unit = "quantize_down"', "unit = ['quantize_down']", "unit is ['quantize_down']: give one of "),
        ('module = "requantizer"', "", "module is missing"),
        ('module = "requantizer"', 'module = "nosuch"', "there is no nosuch.sv or nosuch.v in "),
        ('module = "requantizer"', 'module = "../requantizer"', "module is '../requantizer': give a name of letters"),
        ('module = "requantizer"', 'module = "é"', "module is 'é': give a name of letters"),
        ('clock = "clk"', 'clock = "clk), .rst(0"', "clock is 'clk), .rst(0': give a name of letters"),
        ('clock = "clk"', 'clock = "clk\\n"', "clock is 'clk\\n': give a name of letters"),
        ('clock = "clk"', 'clock = ""', "clock is '': give a name of letters"),
        ('clock = "clk"', "clock = 1", "clock is 1: give a name of letters"),
        ('clock = "clk"', 'clock = "rst"', "the port rst is named twice"),
        ('lanes = "N"', 'lanes = "4)) u (.x(1"', "lanes is '4)) u (.x(1': give a name of letters"),
        ('lanes = "N"', "lanes = 5", "lanes is 5: give the name of a parameter, or 1, 4, 8, 16"),
        ('lanes = "N"', "lanes = true", "lanes is True: give the name of a parameter, or 1, 4, 8, 16"),
        ('lanes = "N"', "lanes = {}", "lanes is {}: give the name of a parameter, or 1, 4, 8, 16"),
        ('active = "high"', 'active = "both"', "reset.active is 'both': give one of high, low"),
        ('active = "high"', "", "reset.active is missing"),
        ('kind = "synchronous"', "kind = 1", "reset.kind is 1: give one of synchronous, asynchronous"),
        (
            'bias = "s_bias"',
            "",
            "input.bias is missing: name its port, or give the number that the module has built in",
        ),
        ('bias = "s_bias"', "bias = true", "input.bias is True: give a name of letters"),
        (
            'bias = "s_bias"',
            "bias = 2147483648",
            "input.bias is 2147483648: give the name of a port, or -2147483648..21",
        ),
        (
            'shift = "cfg_shift"',
            "shift = 32",
            "settings.shift is 32: give the name of a port, or 0..31 that is built in",
        ),
        ('result = "m_bytes"', "result = 3", "output.result is 3: give a name of letters"),
        ('valid = "s_valid"', "valid = 1", "input.valid is 1: give a name of letters"),
        ('valid = "s_valid"', "", "input.valid is missing"),
        ('bias = "s_bias"', 'bias = "s_bias"\nfoo = "x"', "there is no key input.foo: there are valid, ready, accumul"),
        ('result = "m_bytes"', 'result = "m_bytes;"', "output.result is 'm_bytes;': give a name of letters"),
        ('shift = "cfg_shift"', "shift = []", "settings.shift is []: give a name of letters"),
        ('clock = "clk"', 'clock = "clk"\nfoo = 1', "there is no key foo: there are unit, module, "),
        ('bias = "s_bias"', 'bais = "s_bias"', "there is no key input.bais (did you mean bias?): there are valid, "),
        ("[settings]", "[setings]", "there is no key setings (did you mean settings?): there are unit, "),
        ('clock = "clk"', 'clock = "clk"\nconstants = 3', "constants is 3: it is a table of ports"),
        ("[reset]", '[constants]\n"a b" = 1\n[reset]', "constants has 'a b': give a name of letters"),
        ("[reset]", "[constants]\nen = 2\n[reset]", "constants.en is 2: give 0 or 1, for a port of one bit"),
        ("[reset]", "[constants]\nclk = 1\n[reset]", "the port clk is named twice"),
    ],
)
def test_what_is_wrong_in_an_adapter_is_one_sentence(folder: Path, right: str, wrong: str, sentence: str) -> None:
    assert RIGHT.count(right) == 1
    said = refusal(folder, RIGHT.replace(right, wrong))
    assert (said[: len(sentence)], "\n" in said) == (sentence, False)


@pytest.mark.parametrize(("signed", "name", "value"), [(1, "minimum", 200), (0, "minimum", -1), (1, "maximum", 128)])
def test_a_bound_that_is_built_in_is_of_the_bytes_that_signed_says(
    folder: Path, signed: int, name: str, value: int
) -> None:
    lines = [
        f"signed = {signed}" if line.startswith("signed =") else f"{name} = {value}" if line.startswith(name) else line
        for line in RIGHT.splitlines()
    ]
    low, high = (-128, 127) if signed else (0, 255)
    assert (
        refusal(folder, "\n".join(lines)) == f"settings.{name} is {value}: with signed = {signed} it is {low}..{high}"
    )


def test_bounds_that_are_built_in_and_cross_are_refused(folder: Path) -> None:
    numbered = RIGHT
    for name, number in (("minimum", 3), ("maximum", 2), ("signed", 0)):
        numbered = re.sub(rf'^{name} = ".*"', f"{name} = {number}", numbered, flags=re.MULTILINE)
    assert refusal(folder, numbered).startswith("settings: minimum 3, maximum 2, signed 0: minimum must not be above")


@pytest.mark.parametrize("name", ["transpose1xw", "interleave4x4", "quantize_down_channels"])
def test_of_a_unit_whose_lanes_are_not_alone_nothing_is_built_in_and_one_lane_is_none(folder: Path, name: str) -> None:
    setting = unit_ports(UNITS[name])["settings"][0]
    for lanes, given, words in (
        (1, {}, "lanes is 1: give the name of a parameter, or 4, 8, 16"),
        (4, {setting: 1}, f"{name} takes no numbers that are built in, name a port"),
    ):
        assert words in refusal(folder, of_all_ports(name, lanes, given))


def of_all_ports(name: str, lanes: int, built_in: dict[str, int] | None = None) -> str:
    """An adapter for a unit whose ports are called by their tables, such as "input_accumulator"."""
    ports: dict[str, dict[str, object]] = {
        table: {one: f"{table}_{one}" for one in names} for table, names in unit_ports(UNITS[name]).items()
    }
    for table in ("input", "output"):
        ports[table] |= {"valid": f"{table}_valid", "ready": f"{table}_ready"}
    ports["settings"] |= built_in or {}
    lines = [f'unit = "{name}"', 'module = "requantizer"', 'clock = "clk"', f"lanes = {lanes}"]
    lines += ["[reset]", 'port = "rst"', 'active = "high"', 'kind = "synchronous"']
    for table, content in ports.items():
        lines += [f"[{table}]", *(f"{key} = {json.dumps(value)}" for key, value in content.items())]
    return "\n".join(lines)


def changed(text: str, changes: dict[str, str]) -> str:
    """A text with others in the place of some that occur once."""
    for right, wrong in changes.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    return text


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({'"s_acc"': '"s_accu"'}, "input.accumulator is 's_accu': requantizer has no such port (s_acc?)"),
        ({'"m_valid"': '"m_vald"'}, "output.valid is 'm_vald': requantizer has no such port (m_valid?)"),
        ({'"clk"': '"ck"'}, "clock is 'ck': requantizer has no such port (clk?)"),
        ({'"rst"': '"arst_n"'}, "reset.port is 'arst_n': requantizer has no such port"),
        ({'"N"': '"Lanes"'}, "lanes is 'Lanes': requantizer has no such parameter"),
        ({'"N"': "8"}, "input.accumulator is 's_acc': that port of requantizer has 128 bits, 256 are due for 8 "
         "numbers a beat"),
        ({'"cfg_mult"': "1", '"cfg_low"': '"cfg_mult"'},
         "settings.minimum is 'cfg_mult': that port of requantizer has 32 bits, 8 are due"),
        ({'"cfg_mult"': '"cfg_low"', 'minimum = "cfg_low"': "minimum = 0"},
         "settings.multiplier is 'cfg_low': that port of requantizer has 8 bits, 32 are due"),
        ({"[reset]": "[constants]\nscan = 1\n[reset]"}, "constants.scan is there: requantizer has no such port"),
        ({"[reset]": "[constants]\ncfg_shift = 1\n[reset]", '"cfg_shift"': "7"},
         "constants.cfg_shift: that port of requantizer has 5 bits, 1 are due"),
    ],
)  # fmt: skip
def test_a_name_or_a_width_that_is_not_the_modules_is_one_sentence(
    folder: Path, changes: dict[str, str], sentence: str
) -> None:
    (folder / "adapter.toml").write_text(changed(RIGHT, changes))
    with pytest.raises(MalformedAdapter) as caught:
        require_fitting(read_adapter(folder / "adapter.toml"), folder)
    assert str(caught.value) == f"{folder / 'adapter.toml'}: {sentence}"


@pytest.mark.rtl
def test_a_setting_that_is_never_below_0_may_have_a_wider_port(folder: Path) -> None:
    module = folder / "requantizer.sv"
    module.write_text(changed(module.read_text(), {"input      [4:0]       cfg_shift": "input [7:0] cfg_shift"}))
    require_fitting(read_adapter(folder / "adapter.toml"), folder)


@pytest.mark.rtl
def test_a_wire_that_fills_the_tables_may_have_a_wider_port_unless_it_has_their_data(folder: Path) -> None:
    unit = UNITS["quantize_down_channels"]
    (folder / "adapter.toml").write_text(of_all_ports(unit.name, 4))
    adapter = read_adapter(folder / "adapter.toml")
    settings = [("input ", f"{name}_i", size) for name, size in setting_bits(unit).items()]
    wider = {"table_channel_i": 16, "table_data_i": 40}
    declared = (
        f"{direction} [{wider.get(name, size) - 1}:0] {adapter.ports[name]}"
        for direction, name, size in (*CLOCKED, *stream_ports(unit, 4), *settings)
    )
    (folder / "requantizer.sv").write_text(f"module requantizer ({', '.join(declared)});\nendmodule\n")
    with pytest.raises(MalformedAdapter, match="table_data': that port of requantizer has 40 bits, 32 are due"):
        require_fitting(adapter, folder)


@pytest.mark.rtl
def test_a_command_ends_with_the_sentence_and_what_to_do(folder: Path) -> None:
    (folder / "adapter.toml").write_text(RIGHT.replace('"s_acc"', '"s_accu"'))
    for command in ("test", "bulk", "prove", "mutate", "synth"):
        done = lanewise("rtl", command, "--adapter", folder / "adapter.toml", columns=400)
        assert (done.exit_code, "has no such port (s_acc?)" in done.output) == (2, True), done.output


@pytest.mark.parametrize("text", ["unit = ", "a = " + "[" * 5000, "\x00"])
def test_what_is_no_toml_is_one_sentence(folder: Path, text: str) -> None:
    assert "adapter.toml is no TOML: " in refusal(folder, text)


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, str(1 << 63)])
@pytest.mark.parametrize("key", ['"cfg_shift"', '"N"'])
def test_a_number_that_toml_does_not_have_is_one_sentence(folder: Path, key: str, number: str) -> None:
    assert refusal(folder, RIGHT.replace(key, number)).endswith("is no TOML: a whole number has 64 bits at most")


def test_a_reset_that_is_no_table_is_one_sentence(folder: Path) -> None:
    before, _, behind = RIGHT.partition("[reset]")
    text = f"{before}reset = 1\n[input]{behind.partition('[input]')[2]}"
    assert refusal(folder, text) == "reset is 1: it is a table with port, active, kind"


def test_a_file_of_the_same_name_as_one_around_the_module_is_refused(folder: Path) -> None:
    (folder / "config_registers.sv").write_text("")
    assert "config_registers.sv has the name of a file that lanewise needs" in refusal(folder, RIGHT)


def test_bytes_that_are_no_text_and_a_file_that_is_not_there_are_one_sentence(folder: Path) -> None:
    (folder / "adapter.toml").write_bytes(b"\xff")
    said = []
    for file in (folder / "adapter.toml", folder / "nosuch.toml", folder):
        with pytest.raises(MalformedAdapter) as caught:
            read_adapter(file)
        said.append(str(caught.value))
    assert said[0].endswith("is no TOML: it is not text in UTF-8")
    assert all(one.startswith("cannot read the adapter ") for one in said[1:])


def test_the_module_is_instantiated_by_the_names_of_the_file(folder: Path) -> None:
    text = RIGHT.replace("[settings]", "[constants]\nscan = 0\n\n[settings]").replace(
        'active = "high"', 'active = "low"'
    )
    (folder / "adapter.toml").write_text(text)
    adapter = read_adapter(folder / "adapter.toml")
    made = harness(UNITS["quantize_down"], 8, "shallow", adapter=adapter)
    lines = {line.strip().rstrip(",") for line in made.splitlines()}
    assert {
        "requantizer #(.N(8)) u_requantizer (", ".clk(clk_i)", ".rst(rst_ni)", ".s_acc(accumulator_i)",
        ".cfg_zero(config_offset)", ".m_bytes(result_o)", ".scan(1'b0)",
    } <= lines  # fmt: skip


def test_what_is_told_of_a_unit_has_the_ports_of_the_module() -> None:
    words = read_adapter(ADAPTER).in_its_words
    said = "accumulator_i[63:32] = 5, valid_o is 0, ready_i 1; shift_i, of rst_ni 0 and lane_i; result_offset"
    assert words(said) == "s_acc[63:32] = 5, m_valid is 0, m_ready 1; cfg_shift, of rst_ni 0 and lane_i; result_offset"


def test_a_reset_that_is_active_high_is_turned_around() -> None:
    assert ".rst(~rst_ni)" in harness(UNITS["quantize_down"], 4, "shallow", adapter=read_adapter(ADAPTER))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rtl", "test", "--adapter", ADAPTER, "--strict"], "--strict is for modules with the package's cycles"),
        (["rtl", "test", "--strict"], "--strict is for modules of your own: give --modules"),
        (["rtl", "test", "--adapter", ADAPTER, "--profile", "deep"], "--profile is for modules of the package"),
        (["rtl", "test", "sqadd", "--adapter", ADAPTER], "adapter.toml is of quantize_down, not of 'sqadd'"),
        (["rtl", "test", "--adapter", ADAPTER, "--modules", "nosuch"], "--modules: there is no folder nosuch"),
        (["rtl", "test", "--adapter", "nosuch"], "cannot read the adapter nosuch: No such file"),
        (["rtl", "exhaust", "sqadd", "--adapter", ADAPTER], "lanewise rtl exhaust does not take a module of yours: "),
        (["rtl", "prove", "--modules", EXAMPLE], "has no module in the place of one here"),
        (["rtl", "prove", "--adapter", ADAPTER, "--lanes", "5"], "a beat of 5 lanes: give 4, 8, 16"),
        (["rtl", "mutate", "sqadd", "--adapter", ADAPTER], "adapter.toml is of quantize_down, not of 'sqadd'"),
        (["rtl", "synth", "sqadd", "--adapter", ADAPTER], "adapter.toml is of quantize_down, not of 'sqadd'"),
        (["rtl", "synth", "--adapter", ADAPTER, "--profile", "deep"], "--profile is for modules of the package"),
        (["rtl", "synth", "nosuch", "--modules", LANES], "has no unit or lane 'nosuch': it has add, "),
        (["rtl", "exhaust", "sqadd", "--modules", EXAMPLE], "has no module in the place of one here"),
        (["rtl", "bulk", "--all", "--adapter", ADAPTER], "give no other unit, no --all and no --profile"),
        (["rtl", "bulk", "quantized_add", "--adapter", ADAPTER], "give no other unit, no --all and no --profile"),
    ],
)
def test_options_that_do_not_go_together_are_one_sentence(words: list[object], sentence: str) -> None:
    done = lanewise(*words, columns=400)
    assert (done.exit_code, sentence in done.output) == (2, True), done.output
