"""The page of a network: one file that needs nothing else, in which no name of the file can become markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from sim.models.causes.causes import Cause
from sim.models.compare import LayerReport, compared
from sim.models.forward import forward
from sim.models.network import Network
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.view.rounding.model_page import model_page
from support.command import lanewise
from support.tflite_models import small_net

EVIL = "</summary><script>alert(1)</script><img src=x onerror=alert(2)>"


class Reader(HTMLParser):
    """Tags with their attributes; whether every tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.unclosed: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.unclosed.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.unclosed[-1:] == [tag]:
            self.unclosed.pop()
        else:
            self.unclosed.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Network:
    path = tmp_path_factory.mktemp("net") / "net.tflite"
    path.write_bytes(small_net(1, 8).content())
    return read_tflite(path)


def report_of(network: Network) -> ModelReport:
    """The depthwise layer has a wrong element, the fully connected one was not recorded."""
    drawn = np.random.default_rng(1).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)
    tensors = forward(network, {network.inputs[0]: drawn}, "double_rounding")
    tensors[network.layers[1].outputs[0]][0, 2, 3, 5] ^= 1
    tensors.pop(network.layers[5].outputs[0], None)
    return ModelReport(network=network, against=EVIL, seed=None, layers=compared(network, tensors))


def test_a_page_has_the_layers_with_their_outcomes_and_the_first_that_parts_is_open(network: Network) -> None:
    page = Reader(model_page(report_of(network)))
    layers = [attributes for tag, attributes in page.tags if tag == "details"]
    assert [one["class"] for one in layers] == ["equal", "differs", "equal", "equal", "equal", "skipped"]
    assert ["open" in one for one in layers] == [False, True, False, False, False, False]
    assert page.unclosed == []


def test_it_is_told_how_many_pictures_there_are_and_what_is_no_cause_is_not_called_one(network: Network) -> None:
    """A bit of one element has no cause; a rounding that is another one has."""
    report = report_of(network)
    page = model_page(replace(report, pictures=("a.npz", "b.npz")))
    assert "tensors of 2 pictures" in page
    assert ("Where it parts" in page, "What would make it" in page) == (True, False)
    cause = Cause("rounding", "single_rounding gives all elements")
    page = model_page(replace(report, layers=[replace(one, causes=(cause,)) for one in report.apart]))
    assert ("Where it parts" in page, "What would make it" in page) == (False, True)


def test_the_heat_of_differences_lies_where_they_are(network: Network) -> None:
    page = model_page(report_of(network))
    strips = [re.findall(r"--heat:([\d.]+)", strip) for strip in re.findall(r'class="strip">(.*?)</div>', page)]
    assert [[place for place, heat in enumerate(strip) if float(heat)] for strip in strips] == [[2], [3], [5]]
    assert [len(strip) for strip in strips] == [8, 8, 8]


def test_names_of_a_file_are_texts(network: Network) -> None:
    tensors = [replace(tensor, name=f"{EVIL}{tensor.number}") for tensor in network.tensors]
    layers = [replace(layer, operator=EVIL) if layer.number == 5 else layer for layer in network.layers]
    hostile = replace(network, name=EVIL, tensors=tensors, layers=layers)
    page = Reader(model_page(report_of(hostile)))
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert page.unclosed == []
    assert f"{EVIL} against {EVIL}" in page.words


def test_a_page_loads_nothing(network: Network) -> None:
    page = Reader(model_page(report_of(network)))
    (policy,) = (one["content"] for tag, one in page.tags if one.get("http-equiv"))
    assert (policy or "").startswith("default-src 'none'")
    assert not any(name in ("src", "srcset") for _, attributes in page.tags for name in attributes)
    links = [one["href"] or "" for tag, one in page.tags if tag == "a"]
    assert links == ["#layer-1"]


def test_long_axes_share_cells(network: Network) -> None:
    wrong = LayerReport(layer=network.layers[0], outcome="differs", differing=3, elements=500,
                        along=((*[0] * 250, 3, *[0] * 249),))  # fmt: skip
    page = model_page(ModelReport(network=network, against="device.npz", seed=None, layers=(wrong,)))
    (strip,) = re.findall(r'class="strip">(.*?)</div>', page)
    assert re.findall(r'--heat:1.000" title="([^"]*)"', strip) == ["246 to 251: 3"]


def test_the_command_writes_a_page_of_a_comparison_only(network: Network, tmp_path: Path) -> None:
    file, page = tmp_path / "net.tflite", tmp_path / "page.html"
    file.write_bytes(small_net(1, 8).content())
    np.savez(tmp_path / "device.npz", x=np.zeros((1, 8, 8, 4), np.int8), conv=np.zeros((1, 8, 8, 8), np.int8))
    assert lanewise("model", file, "--against", tmp_path / "device.npz", "--html", page).exit_code == 1
    assert "<title>net.tflite against " in page.read_text()
    refused = lanewise("model", file, "--html", page)
    assert (refused.exit_code, "--html shows the layers beside those of --against" in refused.stderr) == (2, True)
