"""What all operators share: tensor descriptions, padding, the status of the first fault."""

import pytest

from sim.kernels.operator import (
    ELEMENT_SIZES,
    ConfigurationError,
    Shape,
    Status,
    TensorInfo,
    format_faults,
    padding_faults,
    require_valid,
    status_of,
)


@pytest.mark.parametrize(
    ("shape", "dimensions"),
    [((13, 21), (21, 13)), ((1, 13, 21), (21, 13)), ((3, 1), (1, 3)), ((1, 1), (1,)), ((1,), (1,)), (None, ())],
)
def test_dimensions_are_in_acls_order_without_trailing_ones(shape: Shape | None, dimensions: Shape) -> None:
    assert TensorInfo(shape).dimensions == dimensions


def test_a_dimension_beyond_the_rank_is_1() -> None:
    assert [TensorInfo((13, 21)).dimension(number) for number in range(4)] == [21, 13, 1, 1]


@pytest.mark.parametrize("shape", [(1,) * 7, (3, -1)])
def test_a_shape_that_no_tensor_has_is_refused(shape: Shape) -> None:
    with pytest.raises(ValueError, match="give at most 6 axes, none of them negative"):
        TensorInfo(shape)


@pytest.mark.parametrize("padding", [{"right_padding": -1}, {"bottom_padding": -1}])
def test_negative_padding_is_refused(padding: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="it must not be negative"):
        TensorInfo((1,), **padding)  # type: ignore[arg-type]  # a dict of numbers names no other field


def test_element_sizes_are_those_of_the_names() -> None:
    bits = {name: int("".join(filter(str.isdigit, name))) for name in ELEMENT_SIZES}
    assert {name: 8 * size for name, size in ELEMENT_SIZES.items()} == bits


def test_padding_grows_and_never_shrinks() -> None:
    info = TensorInfo((3,), right_padding=2)
    info.extend_padding(1, 5)
    assert (info.right_padding, info.bottom_padding) == (2, 5)


def test_padding_of_a_tensor_with_memory_stays() -> None:
    info = TensorInfo((3,), resizable=False)
    info.extend_padding(1, 5)
    assert (info.right_padding, info.bottom_padding) == (0, 0)


@pytest.mark.parametrize(
    ("right", "bottom", "resizable", "refused"),
    [(15, 12, False, False), (14, 12, False, True), (15, 11, False, True), (0, 0, True, False)],
)
def test_only_a_tensor_that_cannot_grow_lacks_padding(right: int, bottom: int, resizable: bool, refused: bool) -> None:
    info = TensorInfo((13, 33), "S32", right_padding=right, bottom_padding=bottom, resizable=resizable)
    assert bool(list(padding_faults("mm", info, 15, 12))) is refused


def test_format_faults_name_all_allowed_types_and_come_in_order() -> None:
    assert list(format_faults("input", TensorInfo((1,), "F32", channels=2), "U8", "S8")) == [
        "input has data type F32: it must be U8 or S8",
        "input has 2 channels: it must have 1",
    ]


def test_the_status_is_that_of_the_first_fault() -> None:
    assert status_of(iter(["first", "second"])).description == "first"


def test_no_fault_is_all_well() -> None:
    assert status_of(iter([])) == Status()


def test_a_fault_is_raised_with_its_text() -> None:
    with pytest.raises(ConfigurationError, match=r"^first$"):
        require_valid(status_of(iter(["first"])))
