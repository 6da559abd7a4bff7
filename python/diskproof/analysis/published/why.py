"""Why a published ratio was not met: each reason a function of recorded evidence that yields messages.

Nothing is guessed, and each message has its figure. A reason that explains a smaller difference (the CPU was
the limit) is not given for a larger one, nor if it is open whether there is a difference. What may also have
been so in the original experiment (data in memory) is a condition of this run, not a reason.
"""

import math
from collections.abc import Callable, Iterator

from diskproof.analysis.evidence import Side, middle
from diskproof.analysis.limits.established import OF_A_DISK
from diskproof.analysis.limits.records import CellLimit
from diskproof.analysis.limits.thresholds import IDLE_SHARE
from diskproof.analysis.published.case import Case
from diskproof.analysis.published.join import left_open, level_named
from diskproof.analysis.published.marks import SIZE_BAND
from diskproof.audit import host, kinds, places, run, server, storage
from diskproof.families import of
from diskproof.families.durability import flushed_logs, flushes_alone
from diskproof.families.mysql import WITHOUT_TRANSACTIONS
from diskproof.families.options import Server
from diskproof.families.values import Values
from diskproof.results.limit import IN_WORDS, Limit
from diskproof.wording import Message, bytes_, counted, say, share

SELDOM = 0.01
"""Less than one of something in a hundred transactions decides no throughput."""

OFTEN = 0.05
"""From one flush in twenty transactions on, commits wait for it: dozens of clients may share one."""

TELLING = frozenset(
    one.name
    for one in (
        server.settings,
        host.held_cpus,
        server.placement,
        server.engine,
        places.unused_place,
        storage.physics,
        run.common_settings,
        kinds.rate,
    )
)
"""Checks whose findings may say why figures differ from the expected."""

NO_DISK: dict[Limit, Message] = {
    "CPU": say("CPU-bound here"),
    "load generator": say("bound by the load generator here"),
    "network": say("bound by the network here"),
    "arrivals": say("bound by the rate of arrivals here"),
}
"""Limits under which the disk makes no difference. Locks are none: they may be held until a flush."""

MOST_CAUSES = 2
"""Why operations were skipped: so many causes are named."""

SIGNALS = 2
"""Of a limit: it takes two instruments to name it."""

SHARED = 1.5
"""From so many commits a flush on, sharing decides how much a flush costs a commit."""

UNEXPLAINED = say("not explained by what was recorded")

TELLING_AS_NOTES = frozenset({run.common_settings.name, storage.physics.name})

Reason = Callable[[Case], Iterator[Message]]


def reasons(case: Case) -> list[Message]:
    """Return why a measured ratio is another: the strongest evidence first, its conditions last."""
    # How many trials count explains an open interval, but no difference that is shown.
    found = _found(REASONS if case.differs else (*REASONS, invalid_trials), case) or [UNEXPLAINED]
    return list(dict.fromkeys(found + _found(CONDITIONS, case)))


def obstacles(case: Case) -> list[Message]:
    """Return what was found on two sides that could not be compared."""
    return list(dict.fromkeys(_found(OBSTACLES, case)))


def _found(asked: tuple[Reason, ...], case: Case) -> list[Message]:
    return [
        say("{reason} (over the whole job)", reason=found)
        if case.of_whole_job and reason in COUNTED
        else found
        for reason in asked
        for found in reason(case)
    ]


def no_disk_is_the_limit(case: Case) -> Iterator[Message]:
    """Find sides that something other than a disk holds back."""
    if not case.gap_is_smaller:
        return
    for limit, bound in NO_DISK.items():
        held = [
            say("on `{side}` {signals:/; }", side=case.name(side), signals=_signals(found))
            for side in case.sides
            if (found := case.limit(side)) and found.limit == limit
        ]
        if held:
            yield say("{bound}: {held:/; }", bound=bound, held=held)


def data_in_memory(case: Case) -> Iterator[Message]:
    """Find data that are read from memory on both sides."""
    reads = [side.reads for side in case.sides]
    asked = all(side.reads_anything for side in case.sides)
    if not (case.gap_is_smaller and asked) or any(one is None or one >= SELDOM for one in reads):
        return
    sizes = [(side, size) for side in case.sides if (size := side.data_bytes) is not None]
    here = say("here the data is in memory")
    if sizes:
        side, size = sizes[0]
        here = say("{here} ({data} of data)", here=here, data=bytes_(size))
        if side.cell.has_server:
            here = say(
                "here the data is in memory ({data} of data, {memory} of buffers)",
                data=bytes_(size),
                memory=bytes_(side.cell.memory_bytes),
            )
    yield say(
        "{here}: {reads} reads a {work} reached the disks",
        here=here,
        reads=_both(case, reads),
        work=case.work,
    )


def disk_is_idle(case: Case) -> Iterator[Message]:
    """Find that the slower side's disk has so little to do that it cannot cost what was published.

    While the disk is idle, nobody waits for it. Without the disk all that time would still pass, so the load
    would be at most 1 / (1 - share) times as fast, by Amdahl's law.
    """
    busy = case.slower.disk_share_at_most
    if not case.gap_is_smaller or busy is None or busy > IDLE_SHARE:
        return
    at_most = math.ceil(100 / (1 - busy)) / 100
    if at_most < math.exp(case.published_gap):
        yield say(
            "on `{side}` the disk is busy for {busy} of the time here: without it the load would be at most "
            "{times:.2f} times as fast",
            side=case.name(case.slower),
            busy=share(busy),
            times=at_most,
        )


def commits_do_not_wait(case: Case) -> Iterator[Message]:
    """Find writing loads whose commits flush nothing on either side."""
    flushes = [side.flushes for side in case.sides]
    writes = all(side.writes_anything and side.cell.has_server for side in case.sides)
    if case.gap_is_smaller and writes and all(one is not None and one < SELDOM for one in flushes):
        yield say(
            "here no commit waits for the disks: {flushes} flushes a {work} reached them",
            flushes=_both(case, flushes),
            work=case.work,
        )


def engine_without_transactions(case: Case) -> Iterator[Message]:
    """Find tables of an engine that has no commit to wait for.

    The engine is the workload's: a published ratio that names the workload is of that engine too.
    """
    if "workload" in case.published.at:
        return
    engines = {side.engine for side in case.sides if side.engine}
    for engine in sorted(engines):
        if case.gap_is_smaller and engine.lower() in WITHOUT_TRANSACTIONS:
            yield say(
                "here the tables are {engine}'s, which has no transactions: no commit waits for a disk",
                engine=engine,
            )


def skipped_operations(case: Case) -> Iterator[Message]:
    """Find parts of a job that were not run."""
    for side in case.sides:
        skipped = {
            part.key: part.skipped
            for one in side.trials
            for part in one.load.operations
            if part.skipped and case.published.part in {None, part.test}
        }
        if skipped:
            yield say(
                "{count} {count:was|were} skipped on `{side}`: {why:/; }",
                count=counted(len(skipped), "operation"),
                side=case.name(side),
                why=list(dict.fromkeys(skipped.values()))[:MOST_CAUSES],
            )


def slower_side_is_held_back(case: Case) -> Iterator[Message]:
    """Find what holds the slower side back, if it is slower than was published."""
    found = case.limit(case.slower)
    if found is not None and (case.gap_is_larger or case.reversed):
        yield say(
            "`{side}` is held back by {limit} here: {signals:/; }; what held the "
            "published one back is not known",
            side=case.name(case.slower),
            limit=_limit(found),
            signals=_signals(found),
        )


def faster_disk_is_the_limit(case: Case) -> Iterator[Message]:
    """Find that even the faster disk is what its side waits for, if the difference is smaller."""
    found = case.limit(case.faster)
    if case.gap_is_smaller and found is not None and found.limit in OF_A_DISK:
        yield say(
            "even `{side}` is held back by {limit} here: {signals:/; }",
            side=case.name(case.faster),
            limit=_limit(found),
            signals=_signals(found),
        )


def limit_is_open(case: Case) -> Iterator[Message]:
    """Name sides whose limit is not established, with what points to one."""
    for side in case.sides if case.differs else ():
        found = case.limits.get(side.cell.id)
        if found and found.limit is None and any(one.supports for one in found.signals):
            form = "what holds `{side}` back is not established: {why}"
            yield say(form, side=case.name(side), why=found.missing)


def commits_reach_the_disks(case: Case) -> Iterator[Message]:
    """Find that commits wait for the slower disk, if the order or a larger difference asks for it."""
    if not (case.reversed or case.gap_is_larger) or not case.slower.writes_anything:
        return
    if (case.slower.flushes or 0) >= OFTEN:
        yield say(
            "here commits reach the disks: {flushes} flushes a {work}; what answered the published ones "
            "is not known",
            flushes=_both(case, [side.flushes for side in case.sides]),
            work=case.work,
        )


def commits_share_flushes(case: Case) -> Iterator[Message]:
    """Find commits that share flushes of the binary log, which older servers flushed for one at a time."""
    for side in case.sides if case.gap_is_smaller else ():
        commits = _commits_a_group(side)
        if side.server and commits and commits >= SHARED:
            since = of(side.server.family).groups_binlog_since.items()
            yield say(
                "on `{side}` {commits:.2g} commits share a flush of {server}'s binary log; servers before "
                "{since} flush it for one commit at a time",
                side=case.name(side),
                commits=commits,
                server=side.server.title,
                since=[Server(flavour, version).title for flavour, version in since],
            )


def server_flushes_alone(case: Case) -> Iterator[Message]:
    """Find a server too old to share a flush of the binary log, if commits cost more than was published."""
    side = case.slower
    costs_more = (case.gap_is_larger or case.reversed) and side.cell.clients > 1
    if costs_more and side.server and flushes_alone(side.server, _settings(side)):
        yield say(
            "{server} flushes its binary log for one commit at a time; the published server may have "
            "shared flushes",
            server=side.server.title,
        )


def telling_findings(case: Case) -> Iterator[Message]:
    """Find what the checks said: a setting that did not hold, a place that was never used, and the like.

    Notes say how a trial was run; few of them have a part in a ratio, and none if there is no ratio.
    """
    telling = TELLING_AS_NOTES if case.measured is not None else frozenset()
    for found in case.findings():
        finding = found.finding
        if finding.check in (telling if finding.severity == "note" else TELLING):
            yield finding.message


def invalid_trials(case: Case) -> Iterator[Message]:
    """Find trials that do not count, and why not."""
    for side in case.sides:
        of_cell = case.gathered.of(side.cell)
        refused = [finding for one in of_cell for finding in one.findings if finding.severity == "invalid"]
        invalid = len(of_cell) - len(side.trials)
        if refused and refused[0].check not in TELLING:
            yield say(
                "{invalid} of {trials} on `{side}` {invalid:does|do} not count: {why}",
                invalid=invalid,
                trials=counted(len(of_cell), "trial"),
                side=case.name(side),
                why=refused[0].message,
            )


def open_order(case: Case) -> Iterator[Message]:
    """Find an interval that holds more than one order."""
    if case.order != "open" or case.measured is None:
        return
    if case.size == "agrees":
        yield say(
            "the order is open: the size agrees, and published figures scatter by as much as "
            "the two orders are apart"
        )
    else:
        yield say("the order is open: the interval holds more than one ({blocks})", blocks=_n_blocks(case))


def open_size(case: Case) -> Iterator[Message]:
    """Find an interval of measured over published that crosses the band's edge."""
    of_published = case.of_published
    if case.size == "open" and of_published is not None and of_published.low and of_published.high:
        yield say(
            "the size is open: {low:.3g} to {high:.3g} times the published, and {least:g} to {most:g} agree "
            "({blocks})",
            low=of_published.low,
            high=of_published.high,
            least=1 / SIZE_BAND,
            most=SIZE_BAND,
            blocks=_n_blocks(case),
        )


def levels_left_open(case: Case) -> Iterator[Message]:
    """Name each factor that the publication does not state, if the study has several levels of it."""
    cell = case.level.cell
    factors = left_open(case.gathered.plan, case.published)
    if factors:
        yield say(
            "the publication does not say what is here {levels}",
            levels=[level_named(factor, cell.level(factor)) for factor in factors],
        )


REASONS: tuple[Reason, ...] = (
    open_order,
    open_size,
    no_disk_is_the_limit,
    disk_is_idle,
    slower_side_is_held_back,
    faster_disk_is_the_limit,
    limit_is_open,
    commits_reach_the_disks,
    commits_share_flushes,
    server_flushes_alone,
    telling_findings,
    skipped_operations,
)
"""The strongest evidence first."""

OBSTACLES: tuple[Reason, ...] = (telling_findings, invalid_trials, skipped_operations)

CONDITIONS: tuple[Reason, ...] = (
    data_in_memory,
    commits_do_not_wait,
    engine_without_transactions,
    levels_left_open,
)
"""What is so here, and may have been so in the original, and what differs by the study's own words."""

COUNTED: tuple[Reason, ...] = (
    no_disk_is_the_limit,
    disk_is_idle,
    slower_side_is_held_back,
    faster_disk_is_the_limit,
    limit_is_open,
    commits_reach_the_disks,
    data_in_memory,
    commits_do_not_wait,
)
"""Those that rest on counters of the whole measured phase."""


def _settings(side: Side) -> Values:
    return {one.name: one.observed for one in side.trials[0].trial.settings} if side.trials else {}


def _commits_a_group(side: Side) -> float | None:
    """Return how many commits share a flush of the binary log; None if it is not flushed or not reported."""
    if side.server is None or "binlog" not in flushed_logs(side.server.family, _settings(side)):
        return None
    accounts = [one.trial.usage.account for one in side.trials if one.trial.usage and one.trial.usage.account]
    return middle(
        one.binlog_commits / one.binlog_groups for one in accounts if one.binlog_commits and one.binlog_groups
    )


def _limit(found: CellLimit) -> Message:
    assert found.limit is not None
    return say(IN_WORDS[found.limit])


def _signals(found: CellLimit) -> list[Message]:
    return [one.says for one in found.supporting[:SIGNALS]]


def _both(case: Case, figures: list[float | None]) -> list[Message]:
    return [
        say("{figure:.2g} (`{side}`)", figure=figure, side=case.name(side))
        for side, figure in zip(case.sides, figures, strict=True)
        if figure is not None
    ]


def _n_blocks(case: Case) -> Message:
    blocks = case.measured.n if case.measured else 0
    if blocks == 1:
        return say("a single block has no interval")
    return say("from {blocks}; more narrow it", blocks=counted(blocks, "block"))
