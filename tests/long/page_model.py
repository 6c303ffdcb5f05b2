"""The page of a network of fifty layers in headless Chromium: what is shown, what opens, widths, light and dark.

`make test-page` brings the driver; Chromium is Debian's package chromium, or what LANEWISE_CHROMIUM names.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sim.models.compare import compared
from sim.models.report import ModelReport
from sim.models.tflite_file import read_tflite
from sim.view.rounding.model_page import model_page
from support.planted_layers import Fault, clean, fifty_layers, recorded

CHROMIUM = os.environ.get("LANEWISE_CHROMIUM") or shutil.which("chromium") or "chromium"
EVIL = "</summary><script>document.title = 'taken'</script><img src=x onerror=document.title='taken'>"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layer 33 saturates at 126; its tensor has a name that is markup."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "net.tflite").write_bytes(fifty_layers(0))
    network = read_tflite(folder / "net.tflite")
    right = clean(network, 0, "double_rounding")
    made = recorded(network, right, "double_rounding", Fault(33, "bound", -1, 1))
    tensors = list(network.tensors)
    output = network.layers[33].outputs[0]
    tensors[output] = replace(tensors[output], name=EVIL)
    hostile = replace(network, tensors=tensors)
    report = ModelReport(network=hostile, against=EVIL, seed=None, layers=compared(hostile, made))
    (folder / "page.html").write_text(model_page(report))
    return folder / "page.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # no sandbox: whoever tests may be root, and the pages are our own
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(params=[(1360, "light"), (390, "dark")], ids=["desktop", "phone"])
def page(request: pytest.FixtureRequest, browser: Browser, file: Path) -> Iterator[Page]:
    """What it logs, and what a policy stops, fails the test."""
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    opened = context.new_page()
    opened.on("console", lambda message: pytest.fail(message.text))
    opened.on("request", lambda request: request.url == file.as_uri() or pytest.fail(request.url))
    opened.goto(file.as_uri())
    yield opened
    context.close()


def test_the_page_is_as_wide_as_the_screen_and_its_texts_are_texts(page: Page) -> None:
    assert page.title().endswith(f"against {EVIL}")
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(22, 24, 27)" if dark else "rgb(255, 255, 255)")


def test_the_layer_that_parts_is_open_and_says_why(page: Page) -> None:
    expect(page.locator("details")).to_have_count(50)
    expect(page.locator("details[open]")).to_have_count(1)
    page.locator("nav a").click()
    apart = page.locator("#layer-33")
    expect(apart.locator("summary")).to_be_in_viewport()
    expect(apart.locator("li").first).to_contain_text("the upper bound 126 instead of 127, add_tflite gives all")
    expect(apart.locator(".strip")).to_have_count(3)


def test_a_layer_opens_where_it_is_clicked(page: Page) -> None:
    layer = page.locator("#layer-0")
    expect(layer.locator(".body")).to_be_hidden()
    layer.locator("summary").click()
    expect(layer.locator(".body")).to_be_visible()
    expect(layer.locator(".body")).to_contain_text("int8[1,14,14,8]")
