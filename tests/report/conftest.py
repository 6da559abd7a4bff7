"""The runs that the reports are made of, and a real browser to look at the page with."""

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from diskproof.analysis.folder import analyse_folder
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from support.runs import MakeRun, Run, quickstart_run, write_run
from support.trials import make_machine, make_trials

# What a browser would otherwise say to the network by itself, or cannot do in a container.
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = quickstart_run(tmp_path_factory.mktemp("quickstart") / "run")
    return folder, analyse_folder(folder)


@pytest.fixture(scope="module")
def make_shared_run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """Return a function that writes a run of a plan, sound unless other trials are given, and analyses it.

    For runs that several tests read; who changes a run has `make_run`.
    """

    def make(plan: Plan, trials: list[Trial] | None = None, **machine_changes: object) -> Run:
        trials = make_trials(plan) if trials is None else trials
        path = tmp_path_factory.mktemp("made") / "run"
        folder = write_run(path, plan, trials, make_machine(plan, **machine_changes))
        return folder, analyse_folder(folder)

    return make


@pytest.fixture
def make_run(make_shared_run: MakeRun) -> MakeRun:
    return make_shared_run


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        pytest.skip("no chromium on this machine: install it (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()
