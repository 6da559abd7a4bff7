"""A run over many hosts, as its head sees it: rounds of a step a host, then what they made is gathered.

A step is a block of trials, a pair of trials for a proof, or a cut, in this order.

Nothing is asked of a host while any of them measures. A host that is lost is left out of the further rounds.
"""

import fcntl
import os
import secrets
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from diskproof.analysis.folder import invalidating, why_pair_fails
from diskproof.crash.evidence import IMAGE
from diskproof.hosts.cluster import Asked, Host, Lost, answers, ask, connected, labs, named
from diskproof.hosts.lab import RUN_NAME, Found, Step, digest
from diskproof.hosts.records import Books, WrongError, check_file
from diskproof.hosts.remote import Roles
from diskproof.reading import read_text
from diskproof.refusal import RefusalError
from diskproof.results.cut import CutTrial
from diskproof.results.durable import writing
from diskproof.results.folder import RECORDS, Made, RunFolder, paths_of
from diskproof.results.limit import ProofPair
from diskproof.results.machine import Machine
from diskproof.results.plan import NO_LEVEL, Plan
from diskproof.results.trial import Trial
from diskproof.run.dials import write_dials
from diskproof.run.execute import stopping
from diskproof.run.prove import NOTHING_TO_PROVE, check_request, provable
from diskproof.run.resume import changed_machine, folder_to_resume, resumed_plan
from diskproof.run.session import PlannedPair, Progress, Request, new_folder
from diskproof.study.hosts import HostsChoice
from diskproof.wording import Message, numbers

CLEANING_S = 60.0
"""Longer than an orderly end of a run takes."""

WAITING = ("waits", "proves")
"""States of a part that has more to do."""


class LostError(Exception):
    """A host does not answer: it takes no further part."""


@dataclass
class _Member:
    """A host that takes part, and how far its part is."""

    host: Host
    lab: Any
    step: Step | None = None
    lost: str | None = None
    """Why it takes no further part."""
    is_gone: bool = False
    """Whether it does not answer any more."""

    def is_at(self, *states: str) -> bool:
        """Return whether it takes part, and its part has come to one of these states."""
        return self.lost is None and self.step is not None and self.step.state in states

    def ask(self, method: str, *arguments: object) -> Any:  # noqa: ANN401 - what the method returns
        """Call the host and wait; LostError if it does not answer."""
        if self.is_gone:
            raise LostError(self.lost)
        (answer,) = answers([getattr(self.lab, method).remote(*arguments)])
        if isinstance(answer, Lost):
            self.is_gone = True
            raise LostError(answer.why)
        return answer


def execute_over_hosts(request: Request, progress: Progress) -> RunFolder:
    """Make all trials, proofs and cuts of a run that do not count yet, on its hosts.

    StoppedError if hosts were lost: the others' trials are in the folder by then.
    """
    hosts = request.file.study.hosts
    assert hosts is not None
    if request.pairs:
        check_request(request)
    names = [*hosts.labs, *hosts.loaders]
    with connected() as known:
        chosen = named(known, names, resume=request.resume and not hosts.has_roles)
        hands = [_Member(host, lab) for host, lab in zip(chosen, labs(chosen), strict=True)]
        _check(ask(chosen, [hand.lab for hand in hands]))
        missing = [name for name in names if name not in {host.name for host in chosen}]
        hands += [_missing(name) for name in missing]
        folder = folder_to_resume(request.out, request.file, request.plan) if request.resume else None
        folder = folder or new_folder(request)
        folder.hold()
        with stopping(folder), _run_name(folder) as name:
            if request.resume:
                folder.write(resumed_plan(folder.plan(), request.plan))
            _Head(request, folder, name, hands, progress, _roles(hosts, chosen)).run()
    write_dials(folder, progress.note)
    return folder


def _roles(hosts: HostsChoice, chosen: Sequence[Host]) -> Roles | None:
    """Return who does what, and where; None if all do the same."""
    if hosts.database is None:
        return None
    address = {host.name: host.address for host in chosen}
    return Roles(address[hosts.database], hosts.port, {name: address[name] for name in hosts.loaders})


def _missing(name: str) -> _Member:
    """Return a host that is not in the cluster: it takes no part, and the run says so in its end."""
    why = "it is not in the cluster: run `diskproof host join` there, then --resume"
    return _Member(Host(name, "", "", None), None, lost=why, is_gone=True)


def _check(asked: Sequence[Asked]) -> None:
    wrong = [f"host `{one.host.name}`: {one.why_not}" for one in asked if one.why_not]
    if wrong:
        raise RefusalError("\n".join(wrong))


class _Head:
    """Lets the hosts run step by step, and gathers what they make into one run folder."""

    def __init__(
        self,
        request: Request,
        folder: RunFolder,
        name: str,
        hands: Sequence[_Member],
        progress: Progress,
        roles: Roles | None = None,
    ) -> None:
        self._request = request
        self._folder = folder
        self._hands = hands
        self._roles = roles
        self._loaders = {hand.host.name: hand for hand in hands if roles and hand.host.name in roles.loads}
        self._progress = progress
        self._plan = folder.plan()
        names = {hand.host.name for hand in hands} - self._loaders.keys()
        self._books = Books(self._plan, sorted(names))  # the same whoever is missing
        self._order = {step: number for number, step in enumerate(self._books.planned)}
        self._run_id = name
        self._known: defaultdict[str | None, set[str]] = defaultdict(set)
        """Digests of the records that are here, by host: `HostLab.records` returns the others."""
        for read in (folder.trials, folder.proofs, folder.cuts):
            read()  # a damaged folder is refused in words
        for file in RECORDS:
            for line in folder.record_lines(file):
                self._known[self._books.host(file, line)].add(digest(line))
        self._goes_on = False
        """Whether the run goes on without a host that is lost. Else what ends the run says who is."""
        self._another: dict[tuple[str, str], str | None] = {}
        """Why a part, by its host and folder, is of another machine than the run; None if it is not."""

    def run(self) -> None:
        """Gather what an earlier head did not, and run what is left; RefusalError names lost hosts."""
        self._goes_on = self._request.resume
        self._settle()
        if self._request.resume:
            self._gather()
        loads = self._begin_loads()
        self._begin()
        self._check_loads(loads)
        if not self._request.resume and any(hand.lost for hand in self._hands):
            self._forget()
            self._folder.drop()  # nothing was measured; `--resume` is for an earlier run
            self._refuse_lost()
        self._goes_on = True
        if ready := self._at("waits"):
            at_work = numbers.count(len(ready), "host")
            self._progress.note(f"{at_work} at work: nothing is shown until each has done a step")
        self._rounds()
        self._prove()
        self._rounds()
        self._refuse_lost()
        self._forget()

    def _rounds(self) -> None:
        """Let each host make a step, and gather what they made, until none waits for another."""
        while ready := self._at("waits"):
            self._step(ready, [hand.lab.go_on.remote() for hand in ready])
            self._gather()
            self._check_clocks()

    def _prove(self) -> None:
        """Tell each host that waits for them the limits that it proves."""
        hands = self._at("proves")
        if not hands:
            return
        limits = provable(self._folder)
        if not limits:
            self._progress.note(NOTHING_TO_PROVE)
        calls = [
            hand.lab.prove.remote(
                [
                    one.model_copy(update={"host": hand.host.name})
                    for one in limits
                    if self._books.proves(hand.host.name, one.limit.cell)
                ]
            )
            for hand in hands
        ]
        self._step(hands, calls)
        if pairs := [pair for hand in hands if hand.step is not None for pair in hand.step.pairs]:
            self._progress.proofs_begin(sorted(pairs, key=lambda pair: int(pair.id.rpartition("-")[2])))

    def _at(self, state: str) -> list[_Member]:
        """Return the hosts whose part is at a state; none if a machine of the load is lost."""
        if any(hand.lost for hand in self._loaders.values()):
            return []
        return [hand for hand in self._hands if hand.is_at(state) and hand.host.name not in self._loaders]

    def _refuse_lost(self) -> None:
        if lost := [f"host `{hand.host.name}`: {hand.lost}" for hand in self._hands if hand.lost]:
            raise RefusalError("\n".join(lost))

    def _forget(self) -> None:
        """Have the hosts remove what they keep of the run."""
        answers([hand.lab.forget.remote(self._run_id) for hand in self._hands if not hand.is_gone])

    def _settle(self) -> None:
        """Wait for parts of an earlier head, which clean up."""
        wait_s = CLEANING_S if self._request.resume else 0.0
        here = [hand for hand in self._hands if not hand.is_gone]
        settled = answers([hand.lab.settle.remote(wait_s) for hand in here])
        for hand, answer in zip(here, settled, strict=True):
            if answer is not None:
                self._lose(hand, answer)

    def _begin(self) -> None:
        """Give each host its part: its trials, proofs and cuts that do not count yet."""
        done = {trial.id for trial in self._folder.trials() if not invalidating(self._folder, trial)}
        done |= {cut.id for cut in self._folder.cuts() if cut.finished}
        if any(hand.lost for hand in self._loaders.values()):
            return
        steps = self._books.planned.keys() - done
        file, roles, pairs = self._request.file, self._roles, self._request.pairs
        hands = [hand for hand in self._hands if not hand.lost and hand.host.name not in self._loaders]
        parts = [(hand, _part(self._plan, steps, hand.host.name)) for hand in hands]
        parts = [(hand, part) for hand, part in parts if self._is_left(hand, part)]
        begun = [hand for hand, _ in parts]
        calls = [hand.lab.begin.remote(self._run_id, file, part, pairs, roles) for hand, part in parts]
        self._step(begun, calls)
        for hand in begun:
            self._check_machine(hand)

    def _is_left(self, hand: _Member, part: Plan) -> bool:
        """Tell whether a host has anything to do of its part: before the trials it may have any proof."""
        proves = any(self._books.proves(hand.host.name, cell) for cell in part.cells)
        return bool(part.trials or (part.crash and part.crash.trials) or (self._request.pairs and proves))

    def _begin_loads(self) -> dict[str, Machine]:
        """Have the machines of the load wait for questions; return their facts."""
        hands = [hand for hand in self._loaders.values() if not hand.lost]
        awake = bool(hands) and self._request.file.study.design.cores_awake
        self._step(hands, [hand.lab.begin_load.remote(self._run_id, awake) for hand in hands])
        return {
            hand.host.name: Machine.model_validate_json(hand.step.machine)
            for hand in hands
            if hand.lost is None and hand.step is not None
        }

    def _check_loads(self, found: Mapping[str, Machine]) -> None:
        """Keep the facts of the load's machines; lose one that is another than when the run began."""
        machine = self._folder.machine()
        if machine is None:
            return  # no trial can be made: the database's machine is lost
        for name, now in found.items():
            if changed := changed_machine(machine.loads.get(name, now), now):
                self._lose(self._loaders[name], _another_machine("; ".join(changed)))
        self._folder.write(machine.model_copy(update={"loads": {**found, **machine.loads}}))

    def _check_machine(self, hand: _Member) -> None:
        """Lose a host, before it measures, if its machine is another than when the run began."""
        if not hand.is_at(*WAITING):
            return
        assert hand.step is not None
        try:
            why = self._why_another(hand, hand.step.folder)
        except LostError as lost:
            self._lose(hand, str(lost))
            return
        if why:
            self._lose(hand, _another_machine(why))

    def _step(self, hands: Sequence[_Member], calls: Sequence[Any]) -> None:
        """Wait until all of these hosts have come to the end of their step."""
        for hand, answer in zip(hands, answers(calls), strict=True):
            self._take_step(hand, answer)
            while hand.lost is None and hand.step is not None and hand.step.state == "asks":
                self._take_step(hand, *answers([hand.lab.say.remote(self._ask_loads(hand.step.said))]))

    def _take_step(self, hand: _Member, answer: Step | Lost) -> None:
        if isinstance(answer, Lost):
            self._lose(hand, answer)
            return
        hand.step = answer
        for note in dict.fromkeys(answer.notes):
            self._progress.note(f"{hand.host.name}: {note}")
        if answer.state == "refused":
            self._lose(hand, answer.why)

    def _ask_loads(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Pass questions on to machines of the load, and return their answers."""
        hands = [self._loaders[name] for name in asked]
        left = [hand for hand in hands if hand.lost is None]
        self._step(left, [hand.lab.say.remote(asked[hand.host.name]) for hand in left])
        return {
            hand.host.name: {"failed": hand.lost, "lost": True}
            if hand.lost is not None or hand.step is None
            else hand.step.said
            for hand in hands
        }

    def _lose(self, hand: _Member, why: str | Lost) -> None:
        """Let a host take no further part; one that is `Lost` does not answer any more."""
        if isinstance(why, Lost):
            hand.is_gone, why = True, why.why
        if hand.lost is None:
            hand.lost = why
            if self._goes_on:
                self._progress.note(f"host `{hand.host.name}` takes no further part: {why}")

    def _check_clocks(self) -> None:
        ready = [hand for hand in self._hands if hand.is_at(*WAITING)]
        asked = ask([hand.host for hand in ready], [hand.lab for hand in ready])
        for hand, one in zip(ready, asked, strict=True):
            if one.why_not:
                self._lose(hand, one.why_not)

    # ------------------------------------------------------------ gathering

    def _gather(self) -> None:
        """Fetch what the hosts have finished, and not handed over yet, in the plan's order."""
        left = {hand.host.name: hand for hand in self._hands}
        while left:
            found: list[tuple[int, str, Made, Found]] = []
            for name, hand in [*left.items()]:
                try:
                    some = [(self._books.read(one.file, one.line, name), one) for one in self._records(hand)]
                except (LostError, WrongError) as lost:
                    self._lose(hand, str(lost))
                    some = []
                if not some:
                    del left[name]
                found += [(self._order.get(made.id, 0), name, made, one) for made, one in some]
            last = {made.id: one for _, _, made, one in found}
            for _, name, made, one in sorted(found, key=lambda each: each[0]):
                try:
                    if name in left:
                        taken = self._take(left[name], made, one)
                        if taken and last[made.id] is one:
                            self._show(made)
                except (LostError, WrongError) as lost:
                    self._lose(left.pop(name), str(lost))

    def _records(self, hand: _Member) -> list[Found]:
        records: list[Found] = hand.ask("records", self._run_id, self._known[hand.host.name])
        return records

    def _take(self, hand: _Member, made: Made, found: Found) -> bool:
        """Fetch the files of a record, then the record: one whose files are missing would be wrong.

        Return whether it was taken: a record of another machine is left out.
        """
        if why := self._why_another(hand, found.folder):  # a trial of it must not count, nor be in the way
            self._known[hand.host.name].add(digest(found.line))
            self._progress.note(f"host `{hand.host.name}`: {made.id} is left out, of another machine ({why})")
            return False
        for name, size_bytes in hand.ask("files", found.folder, paths_of(made)):
            check_file(name, size_bytes, made)
            if not (name.endswith(IMAGE) and self._folder.has_file(name)):  # several cuts share it
                self._folder.take_file(name, _pieces(hand, found.folder, name, size_bytes), size_bytes)
        self._folder.append_record(found.file, found.line)
        self._known[hand.host.name].add(digest(found.line))
        return True

    def _show(self, made: Made) -> None:
        match made:
            case Trial():
                failing: Sequence[Message] = [one.message for one in invalidating(self._folder, made)]
            case ProofPair():
                failing = why_pair_fails(self._folder, made)
            case CutTrial():
                failing = ()
        self._progress.begins(
            PlannedPair(id=made.id, cell=made.cell, intervention=made.intervention, estimated_s=0.0)
            if isinstance(made, ProofPair)
            else self._books.planned[made.id]
        )
        self._progress.ends(made, failing)

    def _why_another(self, hand: _Member, folder: str) -> str | None:
        """Keep the facts of a host's machine; return why it is another than before, None if it is not."""
        name = hand.host.name
        if (name, folder) not in self._another:
            now = Machine.model_validate_json(hand.ask("machine", folder))
            machine = self._folder.machine() or now
            first = machine.others.get(name)
            if first is None:
                others = {**machine.others, name: now}
                self._folder.write(machine.model_copy(update={"others": others}))
            self._another[name, folder] = "; ".join(changed_machine(first or now, now)) or None
        return self._another[name, folder]


def _another_machine(why: str) -> str:
    return (
        f"it is another machine than when the run began ({why}): put that back and use --resume, or start a "
        "new run without --resume"
    )


def _pieces(hand: _Member, folder: str, name: str, size_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Yield the pieces of a host's file, each with its offset; LostError if the host is lost meanwhile."""
    end = 0
    while end < size_bytes:
        offset, piece = hand.ask("piece", folder, name, end)
        if not end <= offset <= size_bytes:
            raise WrongError(f"it sent a part of {name} that cannot be")
        if not piece:
            return  # the rest is a hole
        yield offset, piece
        end = offset + len(piece)


def _part(plan: Plan, steps: Set[str], host: str) -> Plan:
    """Return what a host does of these trials and cuts.

    Its cells are the same, whatever is left: a host without the storages of what is done is another machine.
    """
    crash, cuts = plan.crash, plan.crash.trials if plan.crash else []
    own = [cut for cut in cuts if cut.host == host]
    if crash and own:
        cells = {cut.cell for cut in own}
        crash = crash.model_copy(
            update={
                "trials": [cut for cut in own if cut.id in steps],
                "cells": [cell for cell in crash.cells if cell.id in cells],
            }
        )
    return plan.model_copy(
        update={
            "trials": [trial for trial in plan.trials if trial.id in steps and trial.host == host],
            "cells": [cell for cell in plan.cells if cell.host in (NO_LEVEL, host)],
            "crash": crash if own else None,
        }
    )


@contextmanager
def _run_name(folder: RunFolder) -> Iterator[str]:
    """Yield what the hosts call this run: made once, since two runs of a study have the same plan.

    The file is locked meanwhile: RefusalError if another program writes the same run folder.
    """
    path = folder.path / "hosts.id"
    with writing(path):
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644
        )
    with os.fdopen(descriptor, "rb"):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RefusalError(
                f"another program runs {folder.path} over its hosts: wait for it, or end it with Ctrl-C in "
                "its terminal"
            ) from None
        name = read_text(path, 100)
        if not name:
            name = secrets.token_hex(8)
            with writing(path):
                os.write(descriptor, name.encode())
                os.fsync(descriptor)
        if not RUN_NAME.fullmatch(name):  # hosts make and remove folders of that name
            raise RefusalError(f"{path} is damaged: start a new run without --resume")
        yield name
