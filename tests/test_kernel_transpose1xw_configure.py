"""transpose1xw as ACL exposes it: validate() in upstream's order and its quirks, configure(), run() on windows."""

from dataclasses import replace

import numpy as np
import pytest

from sim.kernels.operator import AnyArray, ConfigurationError, ErrorCode, Shape, TensorInfo, Window
from sim.kernels.transpose1xw.configure import TYPES_19_08, Transpose1xW, validate
from sim.kernels.transpose1xw.golden import transpose1xw

ZEROS = "acl_20_11"
INPUT = TensorInfo((2, 17), "U8")
OUTPUT = TensorInfo((2, 32), "U8")
QUANTIZED = TensorInfo((2, 17), "QASYMM8", quantization=(0.5, 3))
FAULTS = [
    ("input has 2 channels: it must have 1", replace(INPUT, channels=2), OUTPUT),
    ("output has data type S8: it must be the input's, U8", INPUT, replace(OUTPUT, data_type="S8")),
    ("output has shape (32, 2): it must be (2, 32)", INPUT, replace(OUTPUT, shape=(32, 2))),
    (
        "output has quantization None: it must be the input's, (0.5, 3)",
        QUANTIZED,
        replace(OUTPUT, data_type="QASYMM8"),
    ),
    (
        "insufficient padding: input has 14 right and 0 bottom, is not resizable, and needs 15 right and 0 bottom",
        replace(INPUT, right_padding=14, resizable=False),
        OUTPUT,
    ),
    # of several faults the first
    ("input has 2 channels: it must have 1", replace(INPUT, channels=2), replace(OUTPUT, data_type="S8")),
    ("output has data type S8: it must be the input's, U8", INPUT, TensorInfo((9, 9), "S8")),
    ("output has shape (9, 9): it must be (2, 32)", QUANTIZED, TensorInfo((9, 9), "QASYMM8")),
    (
        "output has quantization None: it must be the input's, (0.5, 3)",
        replace(QUANTIZED, resizable=False),
        replace(OUTPUT, data_type="QASYMM8"),
    ),
]


@pytest.mark.parametrize(("sentence", "input", "output"), FAULTS)
def test_faults_in_upstream_order(sentence: str, input: TensorInfo, output: TensorInfo) -> None:
    status = validate(input, output)
    assert (status.code, status.description) == (ErrorCode.RUNTIME_ERROR, sentence)


@pytest.mark.parametrize("data_type", TYPES_19_08)
def test_the_types_of_19_08(data_type: str) -> None:
    info = TensorInfo((2, 16), data_type)
    width = {"8": 16, "6": 8, "2": 4}[data_type[-1]]
    assert validate(info, TensorInfo((16 // width, 2 * width), data_type))


@pytest.mark.parametrize("data_type", ["QSYMM8", "QSYMM16", "QASYMM16", "S64", "F64", "UNKNOWN"])
def test_other_types_are_refused_by_19_08(data_type: str) -> None:
    assert validate(TensorInfo((2, 16), data_type), OUTPUT).description.startswith(f"input has data type {data_type}:")


@pytest.mark.parametrize(("data_type", "accepted"), [("QSYMM16", True), ("S64", True), ("UNKNOWN", False)])
def test_later_versions_take_any_type_but_unknown(data_type: str, accepted: bool) -> None:
    assert bool(validate(TensorInfo((2, 16), data_type), TensorInfo(None, data_type), ZEROS)) is accepted


def test_a_fresh_output_fails_for_its_type() -> None:
    assert validate(INPUT, TensorInfo()).description == "output has data type UNKNOWN: it must be the input's, U8"


def test_an_empty_output_of_the_right_type_passes() -> None:
    assert validate(INPUT, TensorInfo(None, "U8"))


@pytest.mark.parametrize("mode_and_width", [("acl_19_08", 16), (ZEROS, 17)])
def test_no_padding_is_needed_for_whole_chunks_or_later(mode_and_width: tuple[str, int]) -> None:
    mode, width = mode_and_width
    assert validate(TensorInfo((2, width), "U8", resizable=False), TensorInfo(None, "U8"), mode)


def test_quantization_of_other_types_is_not_compared() -> None:
    assert validate(replace(INPUT, quantization=(0.5, 3)), OUTPUT)


@pytest.mark.parametrize(("name", "infos"), [("input", (None, OUTPUT)), ("output", (INPUT, None))])
def test_a_null_tensor_is_an_assertion(name: str, infos: tuple[TensorInfo, TensorInfo]) -> None:
    with pytest.raises(TypeError, match=f"{name} is None: give a TensorInfo"):
        validate(*infos)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown mode 'acl'"):
        validate(INPUT, OUTPUT, "acl")


# configure()


@pytest.mark.parametrize(
    ("input", "shape"),
    [(INPUT, (2, 32)), (TensorInfo((3, 2, 17), "F16"), (3, 3, 16)), (TensorInfo((17,), "S32"), (5, 4))],
)
def test_configure_initialises_a_fresh_output(input: TensorInfo, shape: Shape) -> None:
    output = TensorInfo(channels=3, quantization=(9.0, 9))
    Transpose1xW().configure(replace(input), output)
    assert output == TensorInfo(shape, input.data_type)


@pytest.mark.parametrize("quantization", [(0.5, 3), (1.0, 0)])
def test_configure_fails_on_the_output_that_it_initialised_itself(quantization: tuple[float, int]) -> None:
    with pytest.raises(ConfigurationError, match="output has quantization None: it must be the input's"):
        Transpose1xW().configure(replace(QUANTIZED, quantization=quantization), TensorInfo())


def test_a_quantized_output_that_is_initialised_passes() -> None:
    operator, values = Transpose1xW(), np.ones((2, 32), np.uint8)
    operator.configure(replace(QUANTIZED), replace(OUTPUT, data_type="QASYMM8", quantization=(0.5, 3)))
    output = np.zeros((2, 32), np.uint8)
    operator.run(values, output)
    np.testing.assert_array_equal(output, values)


@pytest.mark.parametrize("mode", ["acl_19_08", ZEROS])
def test_configure_names_an_input_without_type(mode: str) -> None:
    with pytest.raises(ConfigurationError, match="input has data type UNKNOWN"):
        Transpose1xW().configure(TensorInfo((2, 17)), TensorInfo(), mode)


@pytest.mark.parametrize(("mode", "right"), [("acl_19_08", 15), (ZEROS, 0)])
def test_configure_extends_the_padding_of_the_input(mode: str, right: int) -> None:
    input = replace(INPUT)
    Transpose1xW().configure(input, TensorInfo(), mode)
    assert (input.right_padding, input.bottom_padding) == (right, 0)


# run()


def configured(input: TensorInfo, mode: str = "acl_19_08") -> Transpose1xW:
    operator = Transpose1xW()
    operator.configure(input, TensorInfo(), mode)
    return operator


def numbers(*shape: int) -> AnyArray:
    return np.random.default_rng(0).integers(0, 2**16, shape).astype(np.int16)


def test_run_copies_the_padding() -> None:
    memory, output = numbers(3, 2, 16), np.zeros((3, 2, 16), np.int16)
    configured(TensorInfo((3, 2, 9), "S16")).run(memory, output)
    np.testing.assert_array_equal(output, transpose1xw(memory[..., :9], memory[..., 9:]))


def test_20_11_writes_zeros() -> None:
    memory, output = numbers(3, 2, 9), numbers(3, 2, 16)
    configured(TensorInfo((3, 2, 9), "S16"), ZEROS).run(memory, output)
    np.testing.assert_array_equal(output, transpose1xw(memory, mode=ZEROS))


def test_windows_write_their_own_chunks() -> None:
    memory, output = numbers(3, 24), np.full((3, 24), -1, np.int16)
    operator, expected = configured(TensorInfo((3, 20), "S16")), np.full((3, 24), -1, np.int16)
    window: Window = (slice(1, 3), slice(8, 20))
    operator.run(memory, output, window)
    expected[1:, 8:] = transpose1xw(memory)[1:, 8:]
    np.testing.assert_array_equal(output, expected)


def test_windows_together_are_the_whole() -> None:
    memory, output = numbers(3, 24), np.zeros((3, 24), np.int16)
    operator = configured(TensorInfo((3, 20), "S16"))
    for row in range(3):
        for part in (slice(0, 8), slice(8, None)):
            operator.run(memory, output, (slice(row, row + 1), part))
    np.testing.assert_array_equal(output, transpose1xw(memory))


def test_padding_of_the_output_stays() -> None:
    operator, output = Transpose1xW(), np.full((1, 20), -1, np.int16)
    operator.configure(TensorInfo((2, 8), "S16"), TensorInfo((1, 16), "S16", right_padding=4))
    operator.run(np.zeros((2, 8), np.int16), output)
    assert output.tolist() == [[0] * 16 + [-1] * 4]


def test_a_vector_runs_as_one_row() -> None:
    output = np.zeros((2, 4), np.float32)
    configured(TensorInfo((5,), "F32")).run(np.arange(8, dtype=np.float32), output, (slice(0, 5),))
    assert output.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    "window", [(slice(0, 2), slice(1, 17)), (slice(0, 2), slice(0, 9)), (slice(0, 3), slice(0, 17)), (slice(0, 2),)]
)
def test_windows_that_cut_a_chunk_are_refused(window: Window) -> None:
    with pytest.raises(ValueError, match="window has"):
        configured(replace(INPUT)).run(np.zeros((2, 32), np.uint8), np.zeros((2, 32), np.uint8), window)


@pytest.mark.parametrize(
    ("input", "output", "sentence"),
    [
        (np.zeros((2, 17), np.uint8), np.zeros((2, 32), np.uint8), r"input has shape \(2, 17\): it was configured as"),
        (np.zeros((2, 32), np.uint8), np.zeros((2, 31), np.uint8), r"output has shape \(2, 31\): it was configured as"),
        (np.zeros((2, 32), np.int16), np.zeros((2, 32), np.int16), "not a numpy array of elements of 1 bytes, as U8"),
        (np.zeros((2, 32), np.uint8), np.zeros((2, 32), np.int8), "output is not a numpy array of uint8"),
    ],
)
def test_arrays_that_were_not_configured_are_refused(input: AnyArray, output: AnyArray, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError), match=sentence):
        configured(replace(INPUT)).run(input, output)


def test_run_before_configure_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"call configure\(\) before run\(\)"):
        Transpose1xW().run(np.zeros((1, 16), np.uint8), np.zeros((1, 16), np.uint8))
