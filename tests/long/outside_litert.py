"""Networks made here, in LiteRT: every layer of its kernels is one of our conventions, and which one is what is known.

Default kernels (XNNPACK) scale in float32 and round to even; without delegates they double and round ties up; the
reference doubles and rounds as gemmlowp (docs/spec/known_differences.md).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sim.models.compare import compared
from sim.models.litert import litert_tensors
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from support.tflite_models import small_net

NAMED = {
    "litert": "product_xnnpack",
    "litert-no-delegate": "double_rounding_ties_up of derive_tflite",
    "litert-reference": "double_rounding of derive_tflite",
}
"""A convention that every layer of the runtime shares that requantizes."""
SEEDS, SIZE = range(12), 24


@pytest.mark.parametrize("runtime", NAMED)
def test_every_layer_of_nets_is_reproduced_by_one_convention(runtime: str, tmp_path: Path) -> None:
    shared: set[str] | None = None
    for seed in SEEDS:
        path = tmp_path / f"net_{seed}.tflite"
        path.write_bytes(small_net(seed, SIZE).content())
        network = read_tflite(path)
        drawn = np.random.default_rng(seed).integers(-128, 128, (1, SIZE, SIZE, 4)).astype(np.int8)
        tensors = litert_tensors(path, network, {0: drawn}, runtime)
        report = ModelReport(network=network, against=runtime, seed=seed, layers=tuple(compared(network, tensors)))
        assert [layer.outcome for layer in report.layers] == ["equal"] * 6, report.verdict
        names = set(report.common["scaling"])
        shared = names if shared is None else shared & names
    print(runtime, sorted(shared or ()))
    assert NAMED[runtime] in (shared or ())
    assert not any(name in (shared or ()) for other, name in NAMED.items() if other != runtime)
