"""The cluster as one program sees it: which hosts there are, and what runs on them."""

import logging
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from diskproof.hosts.lab import HostFacts, HostLab
from diskproof.hosts.membership import (
    NAME,
    VERSIONS,
    check_reachable,
    check_token,
    membership,
    require_ray,
    token_variables,
    versions,
)
from diskproof.refusal import RefusalError
from diskproof.wording import numbers

STARTING_S = 60.0
"""How long a host may take to start its lab."""

OUTLASTING_S = 86_400
"""How long this program goes on if the cluster's head is gone: Ray would end it after 60 s, without a word.

The hosts' labs do end then, which is noticed here.
"""

WAKE_S = 0.5
"""Waiting is broken off so often, for Ctrl-C."""

CLOCKS_WITHIN_S = 1.0
"""How far clocks may differ. No figure depends on it: one machine's steady clock times a trial. The times of
day of trials and logs do."""

LEAST_FREE_BYTES = 64 * 2**20
"""Room that a host's part of a run needs besides the study's data, which its own lab checks."""


@dataclass(frozen=True)
class Lost:
    """Why a host did not answer."""

    why: str


@dataclass(frozen=True)
class Host:
    """A machine of the cluster."""

    name: str
    address: str
    node: str
    """Ray's id of it."""
    versions: str | None
    """As `membership.versions` has them; None if its Ray was not started by diskproof."""

    @property
    def differs(self) -> str | None:
        """Say how its versions differ from ours; None if they do not, or it does not report them."""
        if self.versions is None or self.versions == versions():
            return None
        theirs, ours = in_words(self.versions), in_words(versions())
        return ", ".join(
            f"{one} there, {other} here"
            for one, other in zip_longest(theirs, ours, fillvalue="nothing")
            if one != other
        )


def in_words(label: str) -> list[str]:
    """Return what `membership.versions` has as ``python 3.12.3`` and the like."""
    return [part.replace("-", " ", 1) for part in label.split("_")]


@contextmanager
def connected() -> Iterator[list[Host]]:
    """Connect to this machine's cluster, or to `RAY_ADDRESS`, and yield its hosts by name.

    RefusalError if there is none.
    """
    require_ray()
    member, theirs = membership(), os.environ.get("RAY_ADDRESS") or None
    where: dict[str, Any] = {}
    if theirs is None:
        if member is None:
            raise RefusalError(
                "this machine is in no cluster: `diskproof host start --head` makes one, `diskproof host "
                "join ADDRESS --token-file FILE` joins it; or set RAY_ADDRESS to a cluster of your own"
            )
        check_token(Path(member.token_file))
        address, _, port = member.head.partition(":")
        check_reachable(address, int(port))  # Ray would try for minutes
        os.environ.update(token_variables(Path(member.token_file)))
        where = {"address": member.head, "_node_ip_address": member.address}
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_gcs_rpc_server_reconnect_timeout_s": str(OUTLASTING_S),
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray warns of graphics cards else
    }
    import ray  # noqa: PLC0415 - optional, and it reads the environment when it is loaded

    # Ray prints the end of a log among a run's own lines if one of its processes is killed.
    vars(ray._private.worker)["print_to_stdstream"] = lambda *_, **__: None
    ending = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(**where, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ray.exceptions.RayError, RuntimeError, OSError, ValueError) as error:
        at = theirs or (member.head if member else "")
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise RefusalError(
            f"the cluster at {at} does not answer: {why}. Run `diskproof host leave`, then `start` or `join`"
        ) from None
    finally:
        signal.signal(signal.SIGTERM, ending)  # Ray's own handler would end a run without its clean-up
    try:
        nodes = ray.nodes()  # type: ignore[no-untyped-call]
        yield sorted(_hosts(nodes), key=lambda host: host.name)
    finally:
        ray.shutdown()


def _hosts(nodes: Sequence[dict[str, Any]]) -> Iterator[Host]:
    for node in nodes:
        if node["Alive"]:
            labels = node.get("Labels", {})
            yield Host(
                name=labels.get(NAME) or node["NodeManagerHostname"],
                address=node["NodeManagerAddress"],
                node=node["NodeID"],
                versions=labels.get(VERSIONS),
            )


def named(hosts: Sequence[Host], names: Sequence[str], *, resume: bool = False) -> list[Host]:
    """Return the hosts of these names, in their order; RefusalError names what is missing or twice.

    To `resume`, one host of them is enough: a machine that is gone for good does not stop the others.
    """
    known = {host.name: host for host in hosts}
    missing = [name for name in names if name not in known]
    if missing and not (resume and len(missing) < len(names)):
        raise RefusalError(
            f"the cluster has no host {', '.join(f'`{name}`' for name in missing)}; it has "
            f"{', '.join(known) or 'none'}: run `diskproof host join` there, with --label"
        )
    names = [name for name in names if name in known]
    twice = [name for name in names if sum(host.name == name for host in hosts) > 1]
    if twice:
        raise RefusalError(f"two hosts are called `{twice[0]}`: join one of them with another --label")
    for host in map(known.__getitem__, names):
        if host.differs:
            raise RefusalError(
                f"host `{host.name}` has other versions: {host.differs}: install the same on all"
            )
    return [known[name] for name in names]


def labs(hosts: Sequence[Host]) -> list[Any]:
    """Start a lab on each host, and return the handles; nothing is known of them before the first answer."""
    import ray  # noqa: PLC0415
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # noqa: PLC0415

    remote = ray.remote(num_cpus=0, max_restarts=0)(HostLab)
    return [
        remote.options(scheduling_strategy=NodeAffinitySchedulingStrategy(host.node, soft=False)).remote()
        for host in hosts
    ]


def answers(calls: Sequence[Any], limit_s: float | None = None) -> list[Any]:
    """Wait for all answers; a call that failed has a `Lost` as its answer."""
    import ray  # noqa: PLC0415

    left = list(calls)
    until = None if limit_s is None else time.monotonic() + limit_s
    while left and (until is None or time.monotonic() < until):
        _, left = ray.wait(left, num_returns=len(left), timeout=WAKE_S)
    return [Lost("it does not answer") if call in left else _answer(call) for call in calls]


def _answer(call: Any) -> Any:  # noqa: ANN401 - what the method returns
    import ray  # noqa: PLC0415

    try:
        return ray.get(call)
    except ray.exceptions.RayTaskError as error:
        return Lost(_last_line(str(error)))
    except ray.exceptions.RayActorError as error:
        if "No module named" in str(error):
            return Lost("diskproof is not installed for its Ray: pip install 'diskproof[hosts]' there")
        return Lost("it is gone: its machine, its network or its Ray has ended")
    except ray.exceptions.RayError as error:
        return Lost(_last_line(str(error)))


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]


@dataclass(frozen=True)
class Asked:
    """What a host said of itself, or why it said nothing, and how far its clock is from ours."""

    host: Host
    facts: HostFacts | Lost
    ahead_s: float = 0.0
    """How far its clock is ahead of ours."""
    within_s: float = 0.0
    """How far that may be wrong: half of the time that question and answer took."""

    @property
    def clock_is_off(self) -> bool:
        """Whether the two clocks certainly differ by more than is harmless."""
        return abs(self.ahead_s) - self.within_s > CLOCKS_WITHIN_S

    @property
    def why_not(self) -> str | None:
        """Say why this host cannot take part in a run, and what to do; None if it can."""
        if isinstance(self.facts, Lost):
            return self.facts.why
        if self.facts.versions != versions():
            differs = replace(self.host, versions=self.facts.versions).differs
            return f"it has other versions: {differs}: install the same on all hosts"
        if self.clock_is_off:
            how = "ahead of" if self.ahead_s > 0 else "behind"
            return (
                f"its clock is {abs(self.ahead_s):.1f} s {how} this machine's: set both by NTP (`chronyc "
                "tracking` shows the offset)"
            )
        if self.facts.free_bytes < LEAST_FREE_BYTES:
            free = numbers.size(self.facts.free_bytes)
            return f"{self.facts.out} has only {free} free there: make room, or join with another --out"
        return self.facts.why_no_load


def ask(hosts: Sequence[Host], handles: Sequence[Any]) -> list[Asked]:
    """Ask each host for its facts: first all at once, then one after another, for the clocks."""
    first = answers([handle.facts.remote() for handle in handles], STARTING_S)
    return [
        Asked(host, one) if isinstance(one, Lost) else _asked(host, handle)
        for host, handle, one in zip(hosts, handles, first, strict=True)
    ]


def _asked(host: Host, handle: Any) -> Asked:  # noqa: ANN401 - an actor's handle
    before_s = time.time()
    (facts,) = answers([handle.facts.remote()], STARTING_S)
    after_s = time.time()
    if isinstance(facts, Lost):
        return Asked(host, facts)
    return Asked(host, facts, facts.time_s - (before_s + after_s) / 2, (after_s - before_s) / 2)
