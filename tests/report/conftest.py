"""The runs that the reports are made of."""

import pytest

from diskproof.analysis.folder import analyse_folder
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from support.runs import MakeRun, Run, quickstart_run, write_run
from support.trials import make_machine, make_trials


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
