"""A trial's load on other machines, as the database's part asks for it: the machines are made up."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from diskproof.hosts import remote
from diskproof.hosts.line import Line
from diskproof.hosts.remote import RemoteLoads, Roles
from diskproof.load import LoadFailedError
from diskproof.refusal import RefusalError
from diskproof.results.plan import Phases
from diskproof.run.elsewhere import Order
from support.trials import make_plan, make_trial

AHEAD_NS = {"one": 3_000_000_000, "two": -7_000_000_000}
PHASES = Phases(warm_up_s=0.1, measure_s=0.2)
NETWORK = {
    "round_trip_us": 100.0,
    "to_database_bytes_per_s": 1e9,
    "from_database_bytes_per_s": 1e9,
}


def summary() -> dict[str, Any]:
    """Return what diskproof-load reports of two clients."""
    load = make_trial(make_plan(clients=(2,))).load
    assert load is not None
    said = load.model_dump()
    client = said["client"]
    return {
        **said,
        "workers": client["workers"],
        "client": {**client, "delay_us": {"mean": 1.0, "max": 2.0}},
        "rate": None,
    }


class Machines:
    """The other end of the line: machines whose clocks are ahead by different times."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, Any] | None = None
        self.due_s = 0.0
        self.wakes_late_s = 0.0
        self.wrong: Callable[[str, str, dict[str, Any]], dict[str, Any]] = lambda _name, _do, answer: answer

    def tell(self, **said: Any) -> None:
        assert said["state"] == "asks"
        self.answers, self.due_s = {}, 0.0
        for name, asked in said["said"].items():
            self.asked.append((name, dict(asked)))
            do = asked["do"]
            self.answers[name] = self.wrong(name, do, getattr(self, f"_{do}")(name, asked))

    def hears(self, limit_s: float) -> bool:
        left_s = self.due_s - time.monotonic()
        time.sleep(max(min(left_s, limit_s), 0.0) + self.wakes_late_s)
        return time.monotonic() >= self.due_s

    def hear(self, limit_s: float) -> dict[str, Any] | None:
        assert self.answers is not None
        if not self.hears(limit_s):
            raise TimeoutError
        heard, self.answers = self.answers, None
        return heard

    def _network(self, _name: str, _asked: dict[str, Any]) -> dict[str, Any]:
        return dict(NETWORK)

    def _clock(self, name: str, _asked: dict[str, Any]) -> dict[str, Any]:
        return {
            "ahead_ns": AHEAD_NS[name],
            "within_ns": 50_000,
            "round_trip_us": 110.0,
            "calendar_ns": 10**18,
        }

    def _start(self, _name: str, _asked: dict[str, Any]) -> dict[str, Any]:
        return {"ready": {"event": "ready", "protocol": 1}}

    def _go(self, name: str, asked: dict[str, Any]) -> dict[str, Any]:
        begins_ns = asked["at_ns"] - AHEAD_NS[name]
        self.due_s = begins_ns / 1e9 + PHASES.warm_up_s + PHASES.measure_s + 0.01
        return {
            "began_ns": asked["at_ns"] + int(PHASES.warm_up_s * 1e9) + (200_000 if name == "two" else 0),
            "intervals": [],
            "counted_s": PHASES.measure_s,
            "busy_s": 0.1,
            "steal_s": 0.0,
            "moved": [1000, 2000],
            "cpus": 2,
            "host_cpus": 4,
        }

    def _finish(self, _name: str, _asked: dict[str, Any]) -> dict[str, Any]:
        return {"summary": summary()}

    def _stop(self, _name: str, _asked: dict[str, Any]) -> dict[str, Any]:
        return {}


def free_ports() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1]) - 1


@pytest.fixture
def machines(monkeypatch: pytest.MonkeyPatch) -> Machines:
    monkeypatch.setattr(remote, "LEAD_NS", 200_000_000)  # nothing is sent anywhere
    return Machines()


@pytest.fixture
def loads(machines: Machines, tmp_path: Path) -> RemoteLoads:
    roles = Roles("127.0.0.1", free_ports(), {"one": "10.0.0.2", "two": "10.0.0.3"})
    return RemoteLoads(cast("Line", machines), roles, tmp_path)


ORDER = Order("mysql://diskproof@10.0.0.1:26408/sbtest", "oltp", [["--clients", "2"]] * 2, {}, PHASES)


def test_all_begin_at_one_moment_by_their_own_clocks(machines: Machines, loads: RemoteLoads) -> None:
    load = loads.begin(ORDER)
    seen = [(event["event"], time.monotonic()) for event in load.events(1.0)]
    assert [name for name, _ in seen] == ["ready", "measuring", "measured", "idle", "summary"]
    begins = {name: asked["at_ns"] - AHEAD_NS[name] for name, asked in machines.asked if asked["do"] == "go"}
    assert begins["one"] == begins["two"]
    at_s = dict(seen)
    assert at_s["measuring"] == pytest.approx(begins["one"] / 1e9 + 0.1, abs=0.05)
    assert at_s["measured"] == pytest.approx(begins["one"] / 1e9 + 0.3, abs=0.05)
    assert [one.began_after_us for one in load.hosts] == [0.0, 200.0]
    assert [one.clock_error_us for one in load.hosts] == [50.0, 50.0]
    assert load.hosts[0].network.round_trip_us == 110.0
    load.end()
    assert machines.asked[-1][1]["do"] == "finish"  # nothing is left to be stopped
    said = str([asked for name, asked in machines.asked if asked["do"] != "start"])
    assert loads.endpoint.password not in said
    assert loads.endpoint.password not in str(load.argv) + repr(loads.endpoint)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ahead_ns": AHEAD_NS["two"] + 5_000_000_000}, "its clock moved by 5 s against ours"),
        ({"calendar_ns": 10**18 + 20_000_000}, "its clock was set by 0.02 s"),
    ],
)
def test_a_clock_that_jumps_voids_the_trial(
    machines: Machines, loads: RemoteLoads, change: dict[str, Any], why: str
) -> None:
    went = False

    def wrong(name: str, do: str, answer: dict[str, Any]) -> dict[str, Any]:
        nonlocal went
        went = went or do == "go"
        return {**answer, **change} if went and (name, do) == ("two", "clock") else answer

    machines.wrong = wrong
    load = loads.begin(ORDER)
    with pytest.raises(LoadFailedError, match=f"host `two`: {why}"):
        list(load.events(1.0))
    load.end()
    assert [asked["do"] for _, asked in machines.asked[-2:]] == ["stop", "stop"]
    loads.check()


def test_a_lost_machine_voids_the_trial_and_ends_the_run(machines: Machines, loads: RemoteLoads) -> None:
    machines.wrong = lambda name, do, answer: (
        {"failed": "it is gone", "lost": True} if (name, do) == ("two", "go") else answer
    )
    load = loads.begin(ORDER)
    with pytest.raises(LoadFailedError, match="host `two`: it is gone"):
        list(load.events(1.0))
    with pytest.raises(RefusalError, match="host `two`: it is gone"):
        loads.check()


def test_a_load_that_ends_before_its_time_is_no_measurement(machines: Machines, loads: RemoteLoads) -> None:
    def wrong(_name: str, do: str, answer: dict[str, Any]) -> dict[str, Any]:
        machines.due_s = 0.0 if do == "go" else machines.due_s
        return answer

    machines.wrong = wrong
    load = loads.begin(ORDER)
    with pytest.raises(LoadFailedError, match="ended before its time"):
        list(load.events(1.0))


@pytest.mark.parametrize("late_s", [PHASES.measure_s / 2, PHASES.measure_s * 2])
def test_answers_are_not_early_if_this_machine_wakes_late(
    machines: Machines, loads: RemoteLoads, late_s: float
) -> None:
    def wrong(_name: str, do: str, answer: dict[str, Any]) -> dict[str, Any]:
        machines.wakes_late_s = late_s if do == "go" else 0.0
        return answer

    machines.wrong = wrong
    assert [event["event"] for event in loads.begin(ORDER).events(1.0)][-1] == "summary"


def test_a_network_that_cannot_be_measured_refuses_the_run(machines: Machines, tmp_path: Path) -> None:
    machines.wrong = lambda _name, _do, _answer: {"failed": "Connection refused"}
    roles = Roles("127.0.0.1", free_ports(), {"one": "10.0.0.2"})
    with pytest.raises(RefusalError, match=r"host `one`: Connection refused\. Open port"):
        RemoteLoads(cast("Line", machines), roles, tmp_path)
