"""A builder of realistic campaigns: what cutting servers on virtual disks would have recorded.

The figures of a cut agree with each other as a real one's do: what is lost was acknowledged after the last
flush, a kill takes what no page cache held, a disk that ignores flushes loses whatever the settings say.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from diskproof.results.crash import Keep, Must, Way
from diskproof.results.cut import CutTimings, CutTrial, DiskAtCut, LedgerOutcome, Recovery
from diskproof.results.plan import CUT_LOAD, Cell, Control, Cuts, Documented, Plan, PlannedCut
from diskproof.results.trial import Finding, Setting
from diskproof.wording import Message, as_message
from support.trials import MIB, change

POLICIES: tuple[Keep, ...] = ("nothing", "all", "subset", "prefix")

RATE_PER_S = {"safest": 900.0}
"""Transfers a second of the levels that wait for the disk; the others do 4,000."""

UNVERIFIED = (
    "its data lies on a place that is `directory`: only the power of a virtual disk can be cut, so that what "
    "a power cut loses here is not verified"
)

MakeCut = Callable[[Cuts, PlannedCut], CutTrial]


def make_crash_plan(
    *,
    servers: Sequence[str] = ("mariadb",),
    storages: Sequence[str] = ("ssd",),
    tunings: Sequence[str] = ("safest", "fast"),
    ways: Sequence[Way] = ("power",),
    cuts: int = 50,
    seed: int = 1,
    **changes: Any,
) -> Cuts:
    """Return a plan over all combinations; a storage `liar…` ignores flushes, `disk` is not virtual."""
    cells = [
        Cell(
            id=f"{server}/{storage}/{tuning}",
            server=server,
            storage=storage,
            tuning=tuning,
            workload=CUT_LOAD,
            memory_bytes=128 * MIB,
            clients=8,
        )
        for server in servers
        for storage in storages
        for tuning in tunings
    ]
    dying: dict[str, list[Way]] = {one: ["kill"] if one == "disk" else list(ways) for one in storages}
    pairs = [(cell.id, way) for cell in cells for way in dying[cell.storage]]
    random = np.random.default_rng(seed)
    trials = [
        PlannedCut(
            id=f"c{block:03}-{position:02}",
            block=block,
            position=position,
            cell=pairs[index][0],
            way=pairs[index][1],
            seed=block * 1000 + position,
        )
        for block in range(1, cuts + 1)
        for position, index in enumerate(random.permutation(len(pairs)), start=1)
    ]
    plan = Cuts(
        cells=cells,
        ways=dying,
        unverified={"disk": UNVERIFIED} if "disk" in storages else {},
        cuts=cuts,
        keep="random",
        accounts=1000,
        filler_bytes=100,
        cut_after_s=0.5,
        cut_before_s=2.0,
        trials=trials,
        estimated_s=len(trials) * 5.0,
    )
    return change(plan, **changes)


def with_cuts(plan: Plan, crash: Cuts, *, speed: bool = True) -> Plan:
    """Return a run's plan with cuts; without speed trials where those are not wanted."""
    return change(plan, crash=crash) if speed else change(plan, crash=crash, cells=[], trials=[])


def make_cuts(crash: Cuts, make: MakeCut | None = None) -> list[CutTrial]:
    """Return every planned cut, in order."""
    return [(make or make_cut)(crash, planned) for planned in crash.trials]


def make_cut(crash: Cuts, planned: PlannedCut, **changes: Any) -> CutTrial:
    """Return one sound cut as its cell's level and storage would have it; `changes` as in :func:`change`."""
    cell, random = crash.cell(planned.cell), np.random.default_rng(planned.seed)
    acknowledged = int(RATE_PER_S.get(cell.tuning, 4000.0) * random.uniform(0.5, 2.0))
    disks = [] if planned.way == "kill" else [make_disk(crash, cell, planned, random)]
    window = _window_s(cell, planned, disks, random)
    lost = round(RATE_PER_S.get(cell.tuning, 4000.0) * window * 0.9)
    recovery_s = float(random.uniform(0.6, 1.4)) if planned.way == "kill" else float(random.uniform(1.0, 2.5))
    cut = CutTrial(
        id=planned.id,
        cell=cell.id,
        way=planned.way,
        block=planned.block,
        position=planned.position,
        seed=planned.seed,
        started_at="2026-03-14T10:00:00Z",
        finished=True,
        disks=disks,
        unflushed_acknowledgements=lost if disks else None,
        acknowledged=acknowledged,
        ledger=make_ledger(acknowledged, lost=lost, window_s=window, in_flight=int(random.integers(0, 4))),
        recovery=Recovery(
            mount_s=None if planned.way == "kill" else 0.02,
            server_s=recovery_s,
            binlog_only=0 if cell.server.startswith(("mariadb", "mysql")) else None,
            engine_only=0 if cell.server.startswith(("mariadb", "mysql")) else None,
        ),
        settings=[
            Setting(
                name="innodb_flush_log_at_trx_commit", requested="2", observed="2", holds=True, level=True
            )
        ],
        timings=CutTimings(restore_s=0.1, start_s=0.5, load_s=1.4, recover_s=recovery_s, total_s=4.2),
    )
    return change(cut, **changes)


def _window_s(
    cell: Cell, planned: PlannedCut, disks: Sequence[DiskAtCut], random: np.random.Generator
) -> float:
    if planned.way == "kill":
        return 0.0
    if cell.tuning != "safest":
        return float(random.uniform(0.0, 1.0)) * (random.random() > 0.1)
    kept = {disk.kept for disk in disks}
    lies = cell.storage.startswith("liar") and planned.way == "power" and kept != {"all"}
    return float(random.uniform(0.1, 2.0)) if lies else 0.0


def make_disk(crash: Cuts, cell: Cell, planned: PlannedCut, random: np.random.Generator) -> DiskAtCut:
    """Return a disk that was cut while it was flushed some hundred times a second."""
    kept: Keep = crash.keep if crash.keep != "random" else POLICIES[int(random.integers(0, 4))]
    kept = "all" if planned.way == "stop" else kept
    at_risk = int(random.integers(2, 40)) * (100 if cell.storage.startswith("liar") else 1)
    return DiskAtCut(
        name=cell.storage,
        device="laptop-ssd-2012",
        under_way=3,
        at_risk_writes=at_risk,
        answered_at_risk_writes=at_risk - 1,
        kept=kept,
        torn_writes=1 if kept in ("subset", "prefix") else 0,
        last_flush_before_s=None if cell.storage.startswith("liar") else float(random.uniform(0.001, 0.01)),
    )


def make_ledger(
    acknowledged: int, *, lost: int = 0, window_s: float = 0.0, in_flight: int = 2
) -> LedgerOutcome:
    """Return a database that holds all that it acknowledged but for the last `lost`."""
    lost = min(lost, acknowledged)
    return LedgerOutcome(
        acknowledged=acknowledged,
        present=acknowledged - lost + in_flight,
        lost=lost,
        unacknowledged_present=in_flight,
        never_sent=0,
        duplicated=0,
        half_applied=0,
        invariant_off_by=0,
        first_lost_before_s=window_s if lost else None,
        last_kept_before_s=window_s + 0.002 if lost else 0.002,
        last_acknowledged_before_s=0.002,
    )


def silent(cut: CutTrial, why: str = "no transaction was acknowledged in the last second") -> CutTrial:
    """Return the cut as one that proves nothing."""
    return change(cut, silent_because=as_message(why))


def unfinished(
    cut: CutTrial, why: str | Message = "the disk did not answer: timed out after 10 s"
) -> CutTrial:
    """Return the cut as one that broke off."""
    finding = Finding(check="cut", severity="invalid", message=as_message(why))
    return change(cut, finished=False, ledger=None, recovery=None, acknowledged=None, findings=[finding])


def refused(cut: CutTrial, why: str = "the server did not start: redo log is corrupt") -> CutTrial:
    """Return the cut as one after which there was no database any more."""
    recovery = Recovery(mount_s=0.02, server_s=None, refused=as_message(why))
    return change(cut, ledger=None, recovery=recovery, evidence=f"cuts/{cut.id}")


def unreadable(cut: CutTrial) -> CutTrial:
    """Return the cut as one after which the server came up, and its tables could not be read."""
    return change(cut, ledger=None, recovery__damaged_tables=["the ledger cannot be read: no such table"])


def changed(
    cuts: Sequence[CutTrial], changes: Mapping[int, Callable[[CutTrial], CutTrial]]
) -> list[CutTrial]:
    """Return the cuts with some of them, by position, made others."""
    return [changes[index](cut) if index in changes else cut for index, cut in enumerate(cuts)]


def control(must: Must, *tunings: str, storages: Sequence[str] = ("ssd", "disk"), **changes: Any) -> Control:
    """Return a control of MariaDB at some levels, in every way to die."""
    made = Control(
        ways=["kill", "stop", "power"],
        servers=["mariadb"],
        storages=list(storages),
        tunings=list(tunings),
        must=must,
    )
    return change(made, **changes)


CONTROLS = [
    control("keep", "safest"),
    control("lose", "fast", storages=("ssd", "liar", "disk"), ways=["stop", "power"]),
    control("lose", "safest", storages=("liar",), ways=["power"]),
]
"""Honest disks keep at safest; relaxed settings lose, and so does a disk that ignores flushes."""

KEPT = Documented(
    ways=["kill", "stop", "power"],
    servers=["mariadb"],
    storages=["ssd"],
    tunings=["safest"],
    says="kept",
    source="MariaDB Knowledge Base, innodb_flush_log_at_trx_commit",
)
A_SECOND = change(KEPT, tunings=["fast"], says="may lose", within_s=1.0, ways=["stop", "power"])
CORRUPT = change(KEPT, storages=["liar"], says="may corrupt", tunings=["safest", "fast"], ways=["power"])
