"""Cases of the checks over all trials of a run, and over results that are compared."""

from collections.abc import Sequence
from typing import Any

from diskproof.audit import hosts, places, run, unequal, virtual
from diskproof.audit.check import Run
from diskproof.results.imported import Source
from diskproof.results.plan import Plan
from diskproof.results.trial import Setting, Trial
from support.cases import Case
from support.machines import make_machines, sharing
from support.trials import DISK_DEVICE, change, load_of, make_machine, make_plan, make_trials
from support.virtual import make_facts


def whole(plan: Plan, trials: Sequence[Trial] | None = None, **machine: Any) -> Run:
    return Run(plan, make_machine(plan, **machine), list(trials or make_trials(plan)))


def renamed(name: str, on_disk: str, elsewhere: str) -> Run:
    """Return a run whose variable has one value on the disk and another elsewhere."""
    plan = make_plan()
    trials = []
    for trial in make_trials(plan):
        value = on_disk if "/disk/" in trial.cell else elsewhere
        setting = Setting(name=name, requested=value, observed=value, holds=True)
        trials.append(change(trial, settings=[*trial.settings, setting]))
    return whole(plan, trials)


def slowing(each: float) -> Run:
    plan = make_plan(blocks=6)
    return whole(
        plan,
        [
            change(one, load__transactions_per_s=load_of(one).transactions_per_s * each**one.block)
            for one in make_trials(plan)
        ],
    )


def other_rows(rows: int) -> Run:
    plan = make_plan()
    return whole(
        plan,
        [change(one, data__rows=rows) if "/disk/" in one.cell else one for one in make_trials(plan)],
    )


def on_one_device(number: str) -> Run:
    plan = make_plan(storages=("disk", "ssd"), tunings=("safest",), clients=(8,))
    made = make_machine(plan).places
    moved = [change(one, device_number=number) if one.storage == "ssd" else one for one in made]
    return whole(plan, places=moved)


def without_role(role: str) -> Run:
    plan = make_plan()
    return whole(
        plan,
        [
            change(one, open_files=[file for file in one.open_files if file.role != role])
            for one in make_trials(plan)
        ],
    )


def labelled(label: str | None) -> Run:
    plan = make_plan()
    made = make_machine(plan).places
    return whole(plan, places=[change(one, virtual=make_facts(label=label)) for one in made])


def imported(figures: dict[str, float], clients: Sequence[int] = (10,), seconds: float = 60.0) -> Run:
    """Return two storages' results of another tool, each made once, with these figures."""
    plan = make_plan(storages=tuple(figures), tunings=("safest",), clients=clients, blocks=1, measure_s=60.0)
    plan = change(plan, imported=True)
    trials = []
    for one in make_trials(plan):
        storage = plan.cell(one.cell).storage
        count = plan.cell(one.cell).clients
        rate = figures[storage] * min(count, 32)
        last = storage == list(figures)[-1]
        source = Source(file=f"{storage}.txt", format="sysbench 1.0 OLTP", tool="sysbench 1.0.20")
        trials.append(
            change(
                one,
                imported=source,
                load__transactions_per_s=rate,
                load__seconds=seconds if last else 60.0,
                load__transactions=round(rate * (seconds if last else 60.0)),
            )
        )
    return Run(plan, None, trials)


def on_unlike_hosts(**of_b: Any) -> Run:
    """Return a run whose blocks lie on `a` and `b` in turn, the latter with other facts."""
    plan = sharing(make_plan(blocks=10))
    return Run(plan, make_machines(plan, b=of_b), make_trials(plan))


def on_two_hosts(faster: float) -> Run:
    """Return a run whose blocks lie on `a` and `b` in turn, the latter so many times as fast."""
    plan = sharing(make_plan(blocks=10))
    trials = [
        change(one, load__transactions_per_s=load_of(one).transactions_per_s * faster ** (1 - one.block % 2))
        for one in make_trials(plan, spread=0.004)
    ]
    return whole(plan, trials)


SOUND = whole(make_plan())

RUN_CASES: tuple[Case[Run], ...] = (
    Case(run.confounding, other_rows(50_000), "number of rows too: 40000 against 50000", SOUND),
    Case(places.same_storage, on_one_device(DISK_DEVICE), "one and the same", on_one_device("259:7")),
    Case(places.unused_place, without_role("binlog"), "place of `binlog`", SOUND),
    Case(virtual.virtual_label, labelled("reads may be slower"), "reads may be slower", labelled(None)),
    Case(run.levels, whole(make_plan(tunings=("safest", "strict"))), "do not differ", SOUND),
    Case(
        run.common_settings,
        renamed("innodb_flush_method", "O_DIRECT", "fsync"),
        "is fsync on dram and O_DIRECT on disk",
        SOUND,
    ),
    Case(run.order, slowing(0.95), "from the first block to the last", SOUND),
    Case(run.repeats, whole(make_plan(blocks=3)), "3 blocks", SOUND),
    Case(
        hosts.unlike_hosts,
        on_unlike_hosts(kernel="6.12"),
        "differ in kernel: 6.1.0-31-amd64 against 6.12",
        on_unlike_hosts(),
    ),
    Case(
        hosts.equal_hosts,
        on_two_hosts(1.1),
        r"host `b` is 1\.\d+ times as fast as `a` \(1\.0\d+ to 1\.1\d+, 95%\)$",
        on_two_hosts(1.0),
    ),
    Case(
        unequal.unequal_runs,
        imported({"hdd": 10.0, "ssd": 20.0}, seconds=300.0),
        "the time measured",
        imported({"hdd": 10.0, "ssd": 20.0}),
    ),
)
