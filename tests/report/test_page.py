"""The page in a real browser, opened from a file, as a reader opens it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Dialog, Page

from diskproof.analysis.folder import analyse_folder
from diskproof.report import html
from diskproof.results.load import Iterations
from diskproof.results.trial import Finding, Setting
from support.cuts import control, make_crash_plan, make_cuts, with_cuts
from support.limits import make_limits
from support.published import figure, publish, ratio
from support.runs import MakeRun, Run
from support.trials import MIB, change, make_plan, make_trials

PHONE_PX = 360
PAPER_PX = 703
"""A4 within margins of 12 mm."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HOSTILE = "<img src=x onerror=alert(1)></script><!--{{7*7}}\"'`<b>x</b>`"

CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const opaque = (colour) => { const all = numbers(colour); return all.length < 4 || all[3] === 1; };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (opaque(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    // A legend's signs are drawings: 3:1, as for all colours of charts, is enough.
    if (!own || element.closest("script, style, noscript, option, .sign")) continue;
    if (!element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [low, high] = [luminance(ink), luminance(behind(element))].sort((a, b) => a - b);
    found.push([(high + 0.05) / (low + 0.05), element.textContent.trim().slice(0, 40)]);
  }
  return found;
}"""


@dataclass
class Opened:
    """A page that has finished drawing, and what it said and asked for meanwhile."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


OpenPage = Callable[..., Opened]


@pytest.fixture(scope="module")
def quickstart_page(quickstart: Run) -> str:
    """The page that most tests look at, made once."""
    return html.render(quickstart[1])


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One for all pages: each other one would be a process."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def open_page(tab: Page, tmp_path: Path, quickstart: Run, quickstart_page: str) -> Iterator[OpenPage]:
    opened = Opened(tab)
    listeners: dict[Literal["console", "pageerror", "dialog", "request"], Callable[[Any], None]] = {
        "console": lambda message: opened.complaints.append(message.text),
        "pageerror": lambda error: opened.complaints.append(str(error)),
        "dialog": lambda dialog: refuse(dialog, opened),
        "request": lambda request: opened.requests.append(request.url),
    }

    def open_it(
        run: Run, width_px: int = 1200, made: str | None = None, **analysis_changes: object
    ) -> Opened:
        _, analysis = run
        path = tmp_path / "report.html"
        if run is quickstart and not analysis_changes:
            made = made or quickstart_page
        path.write_text(made or html.render(change(analysis, **analysis_changes)))
        tab.set_viewport_size({"width": width_px, "height": 800})
        tab.emulate_media(media="screen", color_scheme="light")
        tab.goto(path.as_uri())
        tab.wait_for_selector("#told", state="attached")
        return opened

    for event, hear in listeners.items():
        tab.on(event, hear)
    yield open_it
    for event, hear in listeners.items():
        tab.remove_listener(event, hear)
    tab.goto("about:blank")
    tab.mouse.move(0, 0)


def refuse(dialog: Dialog, opened: Opened) -> None:
    opened.complaints.append(f"dialog: {dialog.message}")
    dialog.dismiss()


def assert_quiet(opened: Opened) -> None:
    """Hold the page to its promise: no complaint, and no request but for itself."""
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith("file:")] == []
    assert len(opened.requests) == 1


# ---------------------------------------------------------------- charts


def test_every_figure_draws_its_marks(quickstart: Run, open_page: OpenPage) -> None:
    opened = open_page(quickstart)
    for name, marks, expected in (("throughput", ".mark-symbol.role-mark path", [8]),):
        places = opened.page.query_selector_all(f"#figure-{name} .chart")
        assert [len(place.query_selector_all(marks)) for place in places] == expected, name
        for place in places:
            drawing = place.query_selector("svg")
            assert drawing
            box = drawing.bounding_box()
            assert box
            assert box["width"] > 300
            assert box["height"] > 100
            assert drawing.get_attribute("aria-label")
    assert_quiet(opened)


def test_the_picture_of_the_cuts_is_drawn_and_a_failed_control_is_read_out_first(
    make_run: MakeRun, open_page: OpenPage
) -> None:
    crash = make_crash_plan(cuts=4, controls=[control("keep", "fast")])
    folder, _ = make_run(with_cuts(make_plan(storages=("ssd",), blocks=2), crash))
    for cut in make_cuts(crash):
        folder.append(cut)
    opened = open_page((folder, analyse_folder(folder)))
    page = opened.page
    assert page.locator("#figure-speed-loss .mark-symbol.role-mark path").count() == 2
    assert "control failed" in (page.locator("[role=alert]").text_content() or "")
    assert_quiet(opened)


def test_pointing_at_a_mark_tells_its_cell_and_interval(quickstart: Run, open_page: OpenPage) -> None:
    opened = open_page(quickstart)
    opened.page.hover("#figure-throughput .mark-symbol.role-mark path >> nth=0")
    shown = opened.page.inner_text("#told")
    assert shown.startswith("dram, safest, 1 client: ") and "(596 to 619)" in shown
    opened.page.focus("#figure-throughput .mark-symbol.role-mark path >> nth=1")
    assert opened.page.inner_text("#told") != shown, "the keyboard tells as pointing does"
    assert_quiet(opened)


def test_many_cells_fit_a_telephone(make_run: MakeRun, open_page: OpenPage) -> None:
    plan = make_plan(
        servers=("mariadb", "postgresql"),
        storages=("dram", "ebs"),
        tunings=("safest", "unsafe"),
        memory_bytes=(128 * MIB, 1024 * MIB),
        clients=(1, 16),
        blocks=2,
    )
    opened = open_page(make_run(plan), PHONE_PX)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE_PX
    assert len(opened.page.query_selector_all("#figure-throughput .chart svg")) == 4
    assert_quiet(opened)


# ---------------------------------------------------------------- readable everywhere


@pytest.fixture(scope="module")
def limits_page(quickstart: Run) -> str:
    _, analysis = quickstart
    return html.render(change(analysis, limits=make_limits(analysis.plan)))


@pytest.mark.parametrize("width_px", [400, 1000, 1600])
def test_no_table_is_cut_and_nothing_scrolls_sideways(
    quickstart: Run, limits_page: str, open_page: OpenPage, width_px: int
) -> None:
    opened = open_page(quickstart, width_px, limits_page)
    page = opened.page
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.wait_for_function("document.querySelectorAll('details:not([open])').length === 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    boxes = page.locator(".scroll, pre")
    wide = "all => all.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)"
    assert boxes.evaluate_all(wide) == []
    limits = page.locator('[aria-label="What holds each cell back"]')
    assert limits.evaluate("box => box.scrollHeight - box.clientHeight") <= 1
    if width_px == 400:
        titles = set(
            limits.locator("tbody tr").evaluate_all(
                "all => all.map((row) => getComputedStyle(row.cells[3], '::before').content)"
            )
        )
        assert titles == {'"Held back by"'}, "a table that does not fit has its titles beside each entry"
        page.set_viewport_size({"width": 1600, "height": 800})
        page.wait_for_function("!document.querySelector('.cards[aria-label=\"What holds each cell back\"]')")
    assert_quiet(opened)


@pytest.mark.parametrize("width_px", [PHONE_PX, 768, 1600])
def test_it_is_readable_at_every_width_in_light_and_dark(
    quickstart: Run, open_page: OpenPage, width_px: int
) -> None:
    opened = open_page(quickstart, width_px)
    opened.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    papers = set()
    for scheme in SCHEMES:
        opened.page.emulate_media(color_scheme=scheme)
        papers.add(opened.page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width_px
        contrasts = opened.page.evaluate(CONTRASTS)
        assert len(contrasts) > 300
        assert [one for one in contrasts if one[0] < 4.5] == [], scheme
    assert len(papers) == 2, "light and dark differ"
    assert_quiet(opened)


def test_paper_shows_what_is_folded_away(quickstart: Run, open_page: OpenPage) -> None:
    opened = open_page(quickstart)
    opened.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")
    assert opened.page.is_visible("text=Names: dram = main memory")
    assert not opened.page.is_visible("nav")
    wide = "all => all.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.ariaLabel)"
    opened.page.set_viewport_size({"width": PAPER_PX, "height": 1000})
    assert opened.page.locator(".scroll, pre").evaluate_all(wide) == []


def test_tables_have_heads_and_names(quickstart: Run, open_page: OpenPage) -> None:
    page = open_page(quickstart).page
    for table in page.query_selector_all("table"):
        assert table.query_selector_all("thead th[scope=col]")
        assert table.query_selector_all("tbody th[scope=row]")
    assert all(
        box.get_attribute("aria-label") and box.get_attribute("tabindex") == "0"
        for box in page.query_selector_all(".scroll")
    )


def test_the_first_screen_answers(quickstart: Run, open_page: OpenPage) -> None:
    page = open_page(quickstart, 1000, limits=make_limits(quickstart[1].plan)).page
    assert "Waiting for the disk adds" in page.inner_text(".answer")
    picture = page.locator("header svg[role=img]").first.bounding_box()
    assert picture and picture["y"] + picture["height"] <= 900
    assert page.locator(".beside dt").all_text_contents() == [
        "How sure",
        "Held back by",
        "To do",
        "Beware",
    ]
    words = " ".join(page.locator(".beside dd").all_text_contents()).split()
    assert len(words) <= 60, " ".join(words)
    assert page.locator("h1").is_visible()
    page.set_viewport_size({"width": 400, "height": 800})
    first = page.locator("header svg[role=img]").first.bounding_box()
    action = page.locator(".beside").bounding_box()
    assert first and action and action["y"] + action["height"] <= first["y"], "what to do comes first"


# ---------------------------------------------------------------- inert and alone


def test_hostile_text_is_shown_and_does_nothing(make_run: MakeRun, open_page: OpenPage) -> None:
    plan = make_plan(storages=("dram", HOSTILE), blocks=3)
    plan = change(plan, study=HOSTILE, question=HOSTILE, expectation=HOSTILE, analysis=HOSTILE)
    bad = Finding(check=HOSTILE, severity="warning", message=HOSTILE, remedy=HOSTILE)
    setting = Setting(name=HOSTILE, requested=HOSTILE, observed=HOSTILE, holds=True, level=True)
    trials = [
        change(trial, findings=[bad], settings=[*trial.settings, setting], load_command=HOSTILE)
        for trial in make_trials(plan)
    ]
    opened = open_page(make_run(plan, trials, host=HOSTILE, cpu_model=HOSTILE))
    page = opened.page
    assert page.query_selector_all("img, iframe, object, #verdicts b") == []
    assert page.inner_text("h1") == HOSTILE
    assert page.title() == f"{HOSTILE}: {HOSTILE}"
    page.locator('[data-told*="alert(1)"]').first.hover()
    assert HOSTILE in page.inner_text("#told")
    assert page.query_selector_all("img") == []
    assert_quiet(opened)


def test_what_was_published_is_drawn_and_read_on_a_phone(make_run: MakeRun, open_page: OpenPage) -> None:
    plan = change(make_plan(clients=(8,), blocks=3), metrics={"complex": "seconds"})
    times = Iterations(count=5, mean_s=2.0, min_s=1.0, max_s=3.0, queries_per_client=80)
    trials = [change(trial, load__iterations=times) for trial in make_trials(plan)]
    told = [figure(9.0, "seconds", table=HOSTILE, storage=storage) for storage in ("dram", "disk")]
    both = [ratio(9.0, table=HOSTILE, measure="seconds", at={"tuning": at}) for at in ("safest", "fast")]
    opened = open_page(make_run(publish(plan, figures=told, ratios=both), trials), PHONE_PX)
    page = opened.page
    assert len(page.query_selector_all("#figure-published .mark-symbol.role-mark path")) == 2 * 2
    assert page.query_selector_all("#published img") == []
    assert page.inner_text("#published h3 >> nth=1") == HOSTILE
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE_PX
    page.eval_on_selector_all("#published details", "all => all.forEach((one) => { one.open = true })")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert [text for contrast, text in page.evaluate(CONTRASTS) if contrast < 4.5] == [], scheme
    assert_quiet(opened)


def test_the_policy_forbids_requests_and_foreign_scripts(quickstart: Run, open_page: OpenPage) -> None:
    page = open_page(quickstart).page
    assert page.evaluate("fetch('data:text/plain,x').then(() => 'fetched', () => 'refused')") == "refused"
    ran = page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.foreign = true";
          document.body.append(script);
          return window.foreign === true;
        }"""
    )
    assert not ran


@pytest.mark.usefixtures("browser")  # beside those with which it shares the page
def test_a_page_is_the_same_each_time_and_not_large(quickstart: Run, quickstart_page: str) -> None:
    assert quickstart_page == html.render(quickstart[1])
    assert len(quickstart_page.encode()) < 400_000


# ---------------------------------------------------------------- little or nothing to show


def test_a_run_without_a_valid_trial(make_run: MakeRun, open_page: OpenPage) -> None:
    plan = make_plan(blocks=2)
    died = Finding(check="server", severity="invalid", message="ended by signal 9", remedy="Free memory.")
    trials = [
        change(trial, finished=False, load=None, usage=None, findings=[died]) for trial in make_trials(plan)
    ]
    opened = open_page(make_run(plan, trials))
    assert "no trial is valid" in opened.page.inner_text("#verdicts")
    assert opened.page.locator("figure").count() == 0
    assert "ended by signal 9" in opened.page.inner_text("#findings")
    assert_quiet(opened)


def test_a_run_without_any_trial_or_machine(make_run: MakeRun, open_page: OpenPage) -> None:
    opened = open_page(make_run(make_plan(), []), machine=None)
    assert "no trial has finished" in opened.page.inner_text("#verdicts")
    assert "Incomplete" in opened.page.inner_text("header")
    assert_quiet(opened)


@pytest.mark.parametrize(
    "shape",
    [
        {"storages": ("disk",), "tunings": ("safest",), "clients": (8,)},
        {"storages": ("disk",)},
        {"clients": (8,)},
        {"blocks": 1},
        {"servers": ("sqlite",)},
    ],
)
def test_small_studies(make_run: MakeRun, open_page: OpenPage, shape: dict[str, object]) -> None:
    plan = make_plan(**shape)  # type: ignore[arg-type]
    trials = [
        change(trial, usage__server_cpu_s=None, usage__devices={}) if "sqlite" in trial.cell else trial
        for trial in make_trials(plan)
    ]
    opened = open_page(make_run(plan, trials), PHONE_PX)
    assert len(opened.page.query_selector_all("#figure-throughput .mark-symbol.role-mark path")) == len(
        plan.cells
    )
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= PHONE_PX
    assert_quiet(opened)
