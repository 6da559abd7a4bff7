"""The page of a run that grows, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from diskproof.analysis.folder import analyse_folder
from diskproof.report import html
from support.serving import LATE, Serve, ServeApart, grown

ADDRESS = f"run/mine/{LATE}"

expect.set_options(timeout=60_000)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1200, "height": 800})
    yield made
    made.close()


def opened(context: BrowserContext, address: str, complaints: list[str]) -> Page:
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    return page


def test_two_windows_follow_one_run_to_its_report(
    tmp_path: Path, serve: Serve, context: BrowserContext
) -> None:
    folder, left = grown(tmp_path / "runs")
    served = serve(tmp_path / "runs")
    complaints: list[str] = []
    windows = [opened(context, served.address + ADDRESS, complaints) for _ in range(2)]
    for window in windows:
        expect(window.locator("#now")).to_contain_text("16 of 24 trials")
    writer = folder.series_writer(left[0].id)
    writer.add([(float(second), "load", "transactions_per_s", 700.0 + second) for second in range(12)])
    for window in windows:
        expect(window.get_by_role("img", name="Throughput of the last 11 s")).to_be_visible()
        expect(window.locator("#made td", has_text="2 of 3").first).to_be_visible()
    writer.close()
    for trial in left:
        folder.append(trial)
    for window in windows:
        expect(window.locator("#made td", has_text="3 of 3")).to_have_count(8)
        expect(window.locator("#made .interval circle").first).to_be_visible()
    (folder.path / "report.html").write_text(html.render(analyse_folder(folder)))
    folder._held.close()
    for window in windows:
        expect(window.locator("#verdicts")).to_be_attached(timeout=60_000)
        assert window.url.endswith(ADDRESS)
    assert complaints == []


def test_without_scripts_the_page_refreshes_itself(tmp_path: Path, serve: Serve, browser: Browser) -> None:
    folder, left = grown(tmp_path / "runs")
    served = serve(tmp_path / "runs")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.address + ADDRESS)
    assert "16 of 24 trials" in page.content()
    folder.append(left[0])
    page.wait_for_event("load", timeout=60_000)
    assert "17 of 24 trials" in page.content()
    context.close()


def test_a_server_that_is_gone_is_said(
    tmp_path: Path, serve_apart: ServeApart, context: BrowserContext
) -> None:
    folder, _ = grown(tmp_path / "runs")
    served = serve_apart(tmp_path / "runs")
    page = opened(context, served.address + ADDRESS, [])
    expect(page.locator("#lost")).to_be_hidden()
    served.process.kill()
    expect(page.locator("#lost")).to_be_visible(timeout=60_000)
    del folder


@pytest.mark.parametrize("width", [400, 1600])
def test_pages_fit_their_window(tmp_path: Path, serve: Serve, browser: Browser, width: int) -> None:
    folder, left = grown(tmp_path / "runs")
    writer = folder.series_writer(left[0].id)
    writer.add([(float(second), "load", "transactions_per_s", 700.0 + second) for second in range(12)])
    served = serve(tmp_path / "runs")
    context = browser.new_context(viewport={"width": width, "height": 900})
    for path in ("", ADDRESS):
        page = opened(context, served.address + path, [])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        headings = page.get_by_role("heading", level=1)
        expect(headings).to_have_count(1)
    context.close()


def test_a_report_of_another_hand_runs_no_script(
    tmp_path: Path, serve: Serve, context: BrowserContext
) -> None:
    folder, left = grown(tmp_path / "runs")
    for trial in left:
        folder.append(trial)
    evil = "<p id=x>as it was</p><script>document.getElementById('x').textContent='changed'</script>"
    (folder.path / "report.html").write_text(evil + "<img src=/metrics onerror=\"x.textContent='changed'\">")
    folder._held.close()
    served = serve(tmp_path / "runs")
    complaints: list[str] = []
    page = opened(context, served.address + ADDRESS, complaints)
    expect(page.locator("#x")).to_have_text("as it was")
    assert any("Content Security Policy" in said for said in complaints)
