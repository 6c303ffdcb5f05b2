"""The page of a campaign in headless Chromium, with a hundred thousand jobs: what is shown, clicks, sorting, widths.

`make test-page` brings the driver; Chromium is Debian's package chromium, or what LANEWISE_CHROMIUM names.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sim.campaign.case import JobCase
from sim.campaign.groups import Row
from sim.campaign.page import results_page
from sim.campaign.report import CampaignReport
from sim.campaign.result import JobResult
from sim.campaign.store import StoredRun

CHROMIUM = os.environ.get("LANEWISE_CHROMIUM") or shutil.which("chromium") or "chromium"
COUNT = 100_000
EVIL = "</script><script>document.title = 'taken'</script><img src=x onerror=document.title='taken'>"


def row(number: int) -> Row:
    """Every hundredth job differs: all of kernel 7 but those at -O0, two of them at kernel 9."""
    kernel, level = number % 50, ("O0", "O2")[number // 50 % 2]
    case = JobCase(kind="check", kernel=f"kernel_{kernel:02}.py", source="k.c", level=level, seed=number // 100,
                   more={"vectors": 100, "engine": "lockstep"})  # fmt: skip
    seconds = (number * 7919 % COUNT) / 1000
    if (kernel == 7 and level == "O2") or number in (9, 109):
        wrong = JobResult(verdict="differs", seconds=seconds, place="k.c:3", convention=EVIL, step="shift",
                          lane=number % 4, failure=f"{EVIL}: machine 1, golden 2",
                          smallest="n = 1" if number == 57 else "")  # fmt: skip
        return case, number.to_bytes(16, "big"), wrong
    return case, number.to_bytes(16, "big"), JobResult(verdict="agrees", seconds=seconds)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = StoredRun(1, f"night {EVIL}", 0.0, 1.0, COUNT, COUNT)
    report = CampaignReport(run=run, rows=[row(number) for number in range(COUNT)], before=None, trend=None)
    made = tmp_path_factory.mktemp("page") / "results.html"
    made.write_text(results_page(report))
    return made


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
    opened.on("pageerror", lambda error: pytest.fail(str(error)))
    opened.on("request", lambda request: request.url == file.as_uri() or pytest.fail(request.url))
    opened.goto(file.as_uri())
    expect(opened.locator("html")).to_have_attribute("data-ready", re.compile(r"\d+"), timeout=30_000)
    yield opened
    context.close()


def test_it_is_small_and_there_soon(page: Page, file: Path) -> None:
    took = int(page.evaluate("document.documentElement.dataset.ready"))
    print(f"\n{file.stat().st_size / 1e6:.2f} MB, shown after {took} ms, load {os.getloadavg()[0]:.1f}")
    assert file.stat().st_size < 10_000_000
    assert took < 2000


def test_texts_are_texts_and_the_page_is_as_wide_as_the_screen(page: Page) -> None:
    assert page.title().startswith("night </script>")
    expect(page.locator("h1")).to_have_text(f"night {EVIL}, run 1")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    ground = page.evaluate("getComputedStyle(document.querySelector('.lanewise')).backgroundColor")
    assert ground == ("rgb(22, 24, 27)" if dark else "rgb(255, 255, 255)")


def test_a_group_has_its_smallest_case_and_its_command(page: Page) -> None:
    first = page.locator(".groups details").first
    expect(first.locator("summary")).to_contain_text("1,000 kernel_07.py differs k.c:3")
    first.locator("summary").click()
    expect(first.locator("pre").nth(1)).to_have_text("n = 1")
    expect(first.locator("pre.command")).to_have_text("lanewise check kernel_07.py --seed 0 --vectors 100 --opt O2")


def test_a_cell_of_a_heat_map_shows_its_jobs(page: Page) -> None:
    heat = page.locator(".heat").first
    expect(heat.locator("tbody tr")).to_have_count(50)
    expect(heat.locator("tbody th").first).to_have_text("kernel_07.py")
    expect(heat.locator(".bad")).to_have_count(2)
    cell = heat.get_by_label("kernel_09.py, -O0: 2 of 1000 fail")
    cell.click()
    expect(page.locator(".jobs .soft")).to_have_text("1,000 of 100,000 jobs")
    expect(page.locator(".jobs tbody tr.failing")).to_have_count(2)
    page.locator(".chosen button").click()
    expect(page.locator(".jobs .soft")).to_have_text("100,000 of 100,000 jobs")
    steps = page.locator(".heat").nth(1)
    expect(steps.locator("tbody th")).to_have_text(["shift"])


def test_the_table_sorts_searches_and_drills_down(page: Page) -> None:
    rows = page.locator(".jobs tbody tr")
    expect(rows).to_have_count(200)
    seconds = page.locator(".jobs th button", has_text="seconds")
    seconds.click()
    expect(rows.first.locator("td").last).to_have_text("0")
    seconds.click()
    expect(rows.first.locator("td").last).to_have_text("99.999")
    expect(page.locator(".jobs th[aria-sort=descending]")).to_have_text("seconds")
    page.get_by_role("searchbox").fill("kernel_07")
    expect(page.locator(".jobs .soft")).to_have_text("2,000 of 100,000 jobs")
    page.locator(".jobs > button").click()
    expect(rows).to_have_count(400)
    failing = page.locator(".jobs tr.failing").first
    failing.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".jobs .detail pre").first).to_contain_text("machine 1, golden 2")
    expect(page.locator(".jobs .detail pre.command")).to_contain_text("lanewise check kernel_07.py --seed")
