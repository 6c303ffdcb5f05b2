"""The kernels by the plugin of pytest: its fixture takes those that pytest.ini lists."""

from sim.kernels import Kernel
from sim.pytest_plugin import assert_kernel_equal


def test_a_kernel_computes_what_it_should(kernel: Kernel) -> None:
    assert_kernel_equal(kernel, levels=("O2",), vectors=100)
