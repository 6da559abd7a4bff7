"""Sound trials that are short, small or on bare files: what must not be called a fault of theirs."""

from typing import Any

from diskproof.audit.check import Evidence, Outcome
from diskproof.audit.storage import data_size
from diskproof.results.plan import Plan
from diskproof.results.usage import ServerAccount
from support.trials import change, load_of, make_machine, make_plan, make_trials, usage_of

GIB = 2**30


def evidence(plan: Plan, storage: str, series: tuple[float, ...] = (), **changes: Any) -> Evidence:
    """Return a trial of one storage, changed, with what is known around it."""
    trial = next(one for one in make_trials(plan) if plan.cell(one.cell).storage == storage)
    return Evidence(change(trial, **changes), plan.cell(trial.cell), plan, make_machine(plan), series)


def reading(reads_each: float, storage: str = "disk") -> Outcome:
    """Return what is said of data larger than the pool, of which so many reads a transaction arrive."""
    plan = make_plan(clients=(8,), tunings=("safest",))
    of = evidence(plan, storage, data__data_bytes=GIB, load__writes=0)
    if storage == "disk":
        reads = round(reads_each * load_of(of.trial).known_transactions)
        [(name, device)] = usage_of(of.trial).devices.items()
        of = evidence(
            plan,
            storage,
            data__data_bytes=GIB,
            load__writes=0,
            usage__devices={name: change(device, reads=reads)},
        )
    return data_size.outcome(of)


def test_data_whose_reads_are_seen_at_the_disk_are_not_read_from_the_page_cache() -> None:
    """The machine's memory could hold them, and does not: the server passes its cache by."""
    assert reading(10.0).state == "passed"
    failed = reading(0.1)
    assert failed.state == "failed"
    assert "the page cache may serve all reads" in failed.problems[0].message.text


def test_pages_that_the_server_asked_for_and_the_disk_gave_are_no_caches() -> None:
    """Few reads a transaction, and all of them the disk's; where it gave few of them, a cache did."""
    plan = make_plan(clients=(8,), tunings=("safest",))
    of = evidence(plan, "disk")
    [(name, device)] = usage_of(of.trial).devices.items()
    for pages, state in ((1000, "passed"), (10_000, "failed")):
        asked = evidence(
            plan,
            "disk",
            data__data_bytes=GIB,
            load__writes=0,
            usage__devices={name: change(device, reads=900)},
            usage__account=ServerAccount(page_reads=pages),
        )
        assert data_size.outcome(asked).state == state


def test_main_memory_under_test_is_not_blamed_for_being_memory() -> None:
    assert reading(0.0, "dram").state == "passed"
