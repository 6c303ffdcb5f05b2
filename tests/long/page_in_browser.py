"""The page of a session, and the widget, in headless Chromium: what is shown, clicks, keys, and that nothing is run.

`make test-page` brings the driver; Chromium is Debian's package chromium, or what LANEWISE_CHROMIUM names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from sim.debug.calls import debug_function
from sim.debug.page.contents import page_contents
from sim.debug.page.html import SCRIPT, STYLE, built, session_page
from sim.debug.request import DebugRequest, find_call
from sim.debug.session import Session
from sim.debug.spots import bytes_at

ROOT = Path(__file__).parents[2]
CHROMIUM = os.environ.get("LANEWISE_CHROMIUM") or shutil.which("chromium") or "chromium"
EVIL = "</script><script>document.title = 'taken'</script><img src=x onerror=document.title='taken'>"
SCALE_DOWN = f"""#include <arm_neon.h>
#include <stddef.h>
/* {EVIL} */
void scale_down(const int32_t *values, uint8_t *output, size_t rows, int32_t multiplier, int32_t shift)
{{
    const int32x4_t right = vdupq_n_s32(-shift);
    for (; rows > 0; --rows, values += 8, output += 8) {{
        int32x4_t low = vqrdmulhq_n_s32(vld1q_s32(values), multiplier);
        int32x4_t high = vqrdmulhq_n_s32(vld1q_s32(values + 4), multiplier);
        low = vrshlq_s32(low, right);
        high = vrshlq_s32(high, right);
        vst1_u8(output, vqmovun_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high))));
    }}
}}
"""
KERNEL = """from pathlib import Path
import numpy as np
from sim.golden import clamp, divide_by_power_of_two_ties_away, doubling_high_multiply
from sim.kernels import Domain, Kernel, parse_prototype

def steps(inputs):
    multiply = doubling_high_multiply(inputs["values"], inputs["multiplier"])
    shift = divide_by_power_of_two_ties_away(multiply, inputs["shift"]) + np.int32(3)
    return {"multiply": multiply, "shift": shift, "clamp": clamp(shift, 0, 255)}

name, signature = parse_prototype("void scale_down(const int32_t values[rows][8], uint8_t output[rows][8],"
                                  " size_t rows, int32_t multiplier, int32_t shift)")
KERNEL = Kernel(name=name, symbol=name, sources=(Path("scale_down.c"),), signature=signature, steps=steps,
                golden=lambda inputs: {"output": steps(inputs)["clamp"].astype(np.uint8)},
                domain={"multiplier": Domain(1 << 30, 1717986918), "shift": Domain(4, 12)})
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # no sandbox: whoever tests may be root, and the pages are our own
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1360, "height": 820})
    yield context
    context.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page")
    (made / "scale_down.c").write_text(SCALE_DOWN)
    (made / "scale_down.py").write_text(KERNEL)
    return made


@pytest.fixture(scope="module")
def failing(folder: Path) -> Session:
    session = Session(find_call(DebugRequest(what=str(folder / "scale_down.py"), failing=True, vectors=200)))
    session.goto_trouble()
    return session


@pytest.fixture(scope="module")
def long() -> Session:
    return Session(find_call(DebugRequest(what="quantize_down", level="-O0", length=400)))


def opened(context: BrowserContext, session: Session, folder: Path) -> Page:
    """The page in a tab; what it logs, and what a policy stops, fails the test."""
    file = folder / "page.html"
    file.write_text(session_page(f"{session.call.title} {EVIL}", page_contents(session)))
    page = context.new_page()
    page.on("console", lambda message: pytest.fail(message.text))
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.on("request", lambda request: request.url == file.as_uri() or pytest.fail(request.url))
    page.goto(file.as_uri())
    expect(page.locator("html")).to_have_attribute("data-ready", re.compile(r"\d+"), timeout=30_000)
    return page


def test_the_first_thing_shown_is_the_instruction_at_fault(
    context: BrowserContext, failing: Session, folder: Path
) -> None:
    page = opened(context, failing, folder)
    step = failing.last
    assert step is not None
    expect(page.locator(".code .here .text")).to_have_text(step.instruction.text)
    expect(page.locator(".code .here .count")).to_have_text(f"#{failing.trouble_number}")
    assert failing.trouble is not None
    expect(page.locator(".trouble")).to_have_text(failing.trouble.says)
    expect(page.locator(".panel .parts .event.wrong")).to_contain_text("parts from golden here: shift")
    assert page.locator(".source .here .text").inner_text().strip() in SCALE_DOWN
    assert page.title().startswith("scale_down")


def lanes_shown(page: Page) -> dict[str, str]:
    """The vector registers and arrays that are shown: by spot, their bytes as hexadecimal lanes."""
    page.select_option(".kinds", "x32")
    cells = page.locator(".vectors .lane")
    spots: list[str] = cells.evaluate_all("cells => cells.map((cell) => cell.dataset.spot)")
    texts: list[str] = cells.evaluate_all("cells => cells.map((cell) => cell.firstChild.data)")
    return dict(zip(spots, texts, strict=True))


def test_lanes_are_those_of_the_session_wherever_one_goes(context: BrowserContext, long: Session, folder: Path) -> None:
    page = opened(context, long, folder)
    long.goto_end()
    rng = np.random.default_rng(3)
    for position in [0, long.position, *rng.integers(0, long.position, 12).tolist()]:
        long.goto(int(position))
        page.locator(".number").fill(str(position))
        page.locator(".number").press("Enter")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
        shown = lanes_shown(page)
        held = {
            f"{number} {4 * lane} 4": text
            for number in sorted({int(spot.split()[0]) for spot in shown})
            for lane, text in enumerate(map(str, long.lanes(f"v{number}", "x32")))
        }
        assert shown == held
        assert len(shown) >= 12
    long.goto(0)


def test_arrays_are_as_they_are_then_forwards_and_back(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    here = failing.position
    failing.goto_end()
    for position in (failing.position, 0, here, failing.position):
        failing.goto(position)
        page.locator(".number").fill(str(position))
        page.locator(".number").press("Enter")
        output = page.locator(".memory .array").nth(1).locator(".lane")
        expected = [str(each) for each in failing.array("output").ravel().tolist()]
        expect(output.locator("nth=0")).to_contain_text(expected[0])
        assert output.evaluate_all("cells => cells.map((cell) => cell.firstChild.data)") == expected
    assert failing.trouble is not None
    assert failing.trouble.mismatch is not None
    wrong = page.locator(".memory .lane.wrong")
    assert wrong.count() >= 1
    failing.goto(here)


@pytest.mark.parametrize("which", ["failing", "long"])
def test_why_is_that_of_the_session(
    which: str, context: BrowserContext, folder: Path, request: pytest.FixtureRequest
) -> None:
    session: Session = request.getfixturevalue(which)
    here = session.position
    page = opened(context, session, folder)
    session.goto_end()
    end, compared = session.position, 0
    rng = np.random.default_rng(4)
    for position in [end, *sorted(rng.integers(end // 3, end, 4).tolist())]:
        page.locator(".number").fill(str(position))
        page.locator(".number").press("Enter")
        session.goto(int(position))
        for kind, size in (("s32", 4), ("s16", 2)):
            page.select_option(".kinds", kind)
            cells = page.locator(".vectors .lane")
            for at in rng.choice(cells.count(), 3, replace=False).tolist():
                place, first, _ = cells.nth(at).get_attribute("data-spot").split()
                cells.nth(at).click()
                name = f"v{place}.{'s' if size == 4 else 'h'}[{int(first) // size}]"
                way = session.why(name)
                if way.is_cut:
                    continue
                expect(page.locator(".panel h2")).to_have_text(name)
                told: list[list[Any]] = page.locator(".panel .step").evaluate_all(STEPS)
                assert told == [
                    [f"#{step.number}", step.instruction, f"{step.lane} = {step.value}", sorted(step.events)]
                    for step in way.steps
                ]
                comes = ", ".join(way.inputs) or "nothing"
                expect(page.locator(".panel p").nth(1)).to_have_text(f"at #{position} comes from {comes}")
                compared += len(told)
    assert compared > 20
    session.goto(here)


STEPS = """steps => steps.map((step) => [
    step.querySelector(".count").textContent, step.querySelector(".text").textContent,
    step.querySelector(".value").textContent,
    [...step.querySelectorAll(".event:not(.golden):not(.wrong)")].map((each) => each.textContent).sort()])"""


def test_golden_steps_are_told_beside_the_way(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    here = failing.position
    failing.goto_end()
    assert failing.trouble is not None
    assert failing.trouble.mismatch is not None
    mismatch = failing.trouble.mismatch
    way = failing.why(failing.spot_of(mismatch.output, mismatch.lane))
    failing.goto(here)
    told = page.locator(".panel .step").evaluate_all(
        """steps => steps.map((step) => step.querySelector(".event.golden")?.textContent ?? "")"""
    )
    assert told == [f"golden {step.golden}" if step.golden else "" for step in way.steps]
    assert any(told)
    golden = " → ".join(f"{name} {value}" for name, value in way.golden.items())
    expect(page.locator(".panel p.golden")).to_have_text(f"golden: {golden}")


def test_keys_step_and_go_to_writes_and_to_the_fault(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    number = page.locator(".number")
    fault = failing.position
    for key, position in (("ArrowRight", fault + 1), ("ArrowLeft", fault), ("Home", 0), ("ArrowLeft", 0), ("f", fault)):
        page.locator("body").press(key)
        expect(number).to_have_value(str(position))
    assert failing.trouble is not None
    assert failing.trouble.mismatch is not None
    text = failing.spot_of(failing.trouble.mismatch.output, failing.trouble.mismatch.lane).name
    written = failing.find(f"writes {text}", 0)
    assert written is not None
    page.locator("body").press("Home")
    page.locator("body").press("n")
    expect(number).to_have_value(str(written + 1))
    page.locator("body").press("End")
    page.locator("body").press("p")
    expect(number).to_have_value(str(written + 1))
    page.locator("body").press("Escape")
    expect(page.locator(".panel")).to_be_hidden()


def test_a_step_of_the_way_is_gone_to(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    first = page.locator(".panel .step").first
    count = first.locator(".count").inner_text()
    first.click()
    expect(page.locator(".code .here .count")).to_have_text(count)


def test_lanes_light_up_where_they_change(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    here = failing.position
    failing.goto(0)
    failing.run_to("writes v3")
    step = failing.last
    assert step is not None
    page.locator(".number").fill(str(failing.position))
    page.locator(".number").press("Enter")
    page.select_option(".kinds", "s32")
    changed = [
        f"{place.index} {at} 4"
        for place, old, new in sorted(step.writes, key=lambda write: write[0])
        for at in range(0, 16, 4)
        if place.file == "v" and (old ^ new) >> 8 * at & 0xFFFFFFFF
    ]
    cells = page.locator(".vectors .lane.changed")
    expect(cells).to_have_count(len(changed))
    assert cells.evaluate_all("cells => cells.map((cell) => cell.dataset.spot)") == changed
    assert changed
    failing.goto(here)


def test_hovering_tells_a_lane_in_every_type(context: BrowserContext, failing: Session, folder: Path) -> None:
    page = opened(context, failing, folder)
    cell = page.locator(".vectors .lane").nth(1)
    place, first, size = map(int, cell.get_attribute("data-spot").split())
    cell.hover()
    rows = dict(
        page.locator(".card tr").evaluate_all("rows => rows.map((row) => [...row.children].map((c) => c.textContent))")
    )
    data = bytes_at(failing.spot(f"v{place}"), failing.machine)[first : first + size]
    assert rows["s32"] == str(int.from_bytes(data, "little", signed=True))
    assert rows["u32"] == str(int.from_bytes(data, "little"))
    assert rows["x32"] == data[::-1].hex()
    assert rows["f32"] == str(np.frombuffer(data, "<f4")[0])
    assert [int(each) for each in rows["s16"].split()] == np.frombuffer(data, "<i2").tolist()


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1360])
def test_it_fits_every_screen(width: int, look: Any, browser: Browser, failing: Session, folder: Path) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=look)
    page = opened(context, failing, folder)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    grounds = page.evaluate("getComputedStyle(document.querySelector('.lanewise')).backgroundColor")
    assert grounds == ("rgb(255, 255, 255)" if look == "light" else "rgb(22, 24, 27)")
    expect(page.locator(".did h2")).to_be_in_viewport()
    context.close()


def test_20_000_instructions_are_there_within_a_second(context: BrowserContext, long: Session, folder: Path) -> None:
    page = opened(context, long, folder)
    ready = page.evaluate("Number(document.documentElement.dataset.ready)")
    print(f"ready after {ready} ms, {(folder / 'page.html').stat().st_size:,} bytes")
    assert ready < 1000


def test_the_widget_moves_with_its_session(context: BrowserContext, failing: Session) -> None:
    """What anywidget does: the module's `render` is given the model, here one of a few lines."""
    page = context.new_page()
    page.on("pageerror", lambda error: pytest.fail(str(error)))
    page.set_content(f"<style>{built(STYLE)}</style><div id=cell></div>")
    page.evaluate(
        """async ([script, data]) => {
            const view = (await import(`data:text/javascript;base64,${script}`)).default;
            const bytes = Uint8Array.from(atob(data), (each) => each.charCodeAt(0));
            const values = { data: new DataView(bytes.buffer), position: 0 };
            window.model = { get: (name) => values[name], set: (name, value) => (values[name] = value),
                             save_changes() { this.saved = values.position; }, on(name, call) { this[name] = call; },
                             off(name) { delete this[name]; } };
            window.leave = await view.render({ model: window.model, el: document.getElementById("cell") });
        }""",
        [b64encode(built(SCRIPT).encode()).decode(), b64encode(page_contents(failing)).decode()],
    )
    expect(page.locator("#cell .number")).to_have_value(str(failing.position))
    page.locator("#cell button", has_text="◀").first.click()
    page.locator("#cell .code .line").first.click()
    first = int(page.locator("#cell .code .line .count").first.inner_text().removeprefix("#"))
    assert page.evaluate("window.model.saved") == first + 1
    page.evaluate("window.model.set('position', 2), window.model['change:position']()")
    expect(page.locator("#cell .number")).to_have_value("2")
    page.evaluate("window.leave()")
    assert page.evaluate("'change:position' in window.model") is False


def test_the_result_of_a_function_and_floating_point(context: BrowserContext, folder: Path) -> None:
    (folder / "mean.c").write_text("float mean(const float *a, int n) { float s = 0; for (int i = 0; i < n; ++i)"
                                   " s += a[i]; return s / n; }")  # fmt: skip
    session = Session(debug_function(folder / "mean.c", "mean", ["0.1,0.2,-3.5", "3"], ("-O1",)))
    page = opened(context, session, folder)
    page.keyboard.press("End")
    session.goto_end()
    value = session.lanes("s0", "f32")[0]
    cell = page.locator(".vectors .lane").first
    expect(cell).to_have_text(str(np.float32(value)))
    cell.click()
    way = session.why("v0.s[0]")
    told = page.locator(".panel .step .value").all_inner_texts()
    assert [each.split(" = ")[0] for each in told] == [step.lane for step in way.steps]
    assert [np.float32(each.split(" = ")[1]) for each in told] == [np.float32(step.value) for step in way.steps]


DEEP = """
static inline __attribute__((always_inline)) int sum(int x, int y) { return x + y; }
static __attribute__((noinline)) int scaled(int x, int by) { return sum(x, 1) * by; }
static __attribute__((noinline)) int twice(int x) { return scaled(x, 2) + scaled(x, 3); }
int deep(const int *a, int b, int c, int d, int e, int f, int g, int h, int ninth, signed char tenth) {
    return twice(a[0]) + ninth + tenth + b + c + d + e + f + g + h;
}
"""


def test_calls_are_told_and_gone_to_and_arguments_on_the_stack_are_shown(context: BrowserContext, folder: Path) -> None:
    (folder / "deep.c").write_text(DEEP)
    session = Session(debug_function(folder / "deep.c", "deep", ["5", *["1"] * 7, "9", "-3"], ("-O0",)))
    session.run_to("deep.c:2")
    inside = session.position
    page = opened(context, session, folder)
    for name in ("ninth", "tenth"):
        expect(page.locator(".memory h3", has_text=name)).to_contain_text("on the stack")
    page.locator(".number").fill(str(inside + 1))
    page.keyboard.press("Enter")
    told = page.locator(".calls .line")
    expect(told).to_have_text(["suminlined at deep.c:3", "scaledcalled at deep.c:4", "twicecalled at deep.c:6", "deep"])
    told.nth(1).click()
    expect(page.locator(".code .here .text")).to_contain_text("bl #")
    expect(page.locator(".calls .line")).to_have_text(["twicecalled at deep.c:6", "deep"])
    page.keyboard.press("Home")
    expect(page.locator(".calls")).to_be_hidden()


def test_an_instruction_that_cannot_be_executed_is_shown_first(context: BrowserContext, folder: Path) -> None:
    (folder / "over.c").write_text("void over(const unsigned char *a, unsigned char *out, unsigned long n)\n"
                                   "{ for (unsigned long i = 0; i <= n; ++i) out[i] = a[i] >> 1; }")  # fmt: skip
    session = Session(debug_function(folder / "over.c", "over", ["1,2,3", "zeros:3", "3"], ("-O1",)))
    session.goto_trouble()
    page = opened(context, session, folder)
    assert session.instruction is not None
    assert session.trouble is not None
    expect(page.locator(".code .here .text")).to_have_text(session.instruction.text)
    expect(page.locator(".did h2")).to_contain_text("cannot be executed")
    expect(page.locator(".trouble")).to_have_text(session.trouble.says)


@pytest.mark.parametrize("name", [SCRIPT, STYLE])
def test_the_built_files_are_what_the_sources_make(name: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    source = ROOT / "sim/debug/page/source"
    copy = tmp_path / "in a checkout of mine" / "source"  # esbuild and URLs each have their own idea of a blank
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("node_modules"))
    (copy / "node_modules").symlink_to(source / "node_modules")
    subprocess.run([node, "build.mjs"], cwd=copy, check=True)
    assert (copy.parent / name).read_text() == built(name)


def test_the_sources_name_no_host() -> None:
    lock = json.loads((ROOT / "sim/debug/page/source/package-lock.json").read_text())
    assert [name for name, each in lock["packages"].items() if "resolved" in each] == []
