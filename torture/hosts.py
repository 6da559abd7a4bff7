"""Kills and other disturbances by seed over the hosts of a run; `make torture` runs it, too.

Machines in namespaces are one cluster. A case begins a short run over them, or resumes it, and disturbs it.
Then nothing may be left, and of each machine at most the trial under way may be lost. After some cases the
run is resumed to its end: each finished trial must be there, and each planned one must be finished.
Ends with 1 if anything was found. `--seed 7 --only 12` begins with a new run and disturbs it as case 12 did.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import psutil
from rich.console import Console
from rich.table import Table

from campaign import INIT, NAMESPACES
from case import BROKEN, SOUND, hide
from diskproof.results.folder import RECORDS, RunFolder
from left import ROOTS, Seen, Things, differences, everything, mounts
from machines import Host, is_quiet, leave, machines, make_cluster, words_of, wrong_in
from strikes import CLOCK, WEIGHTS, Case, strike, until
from works import STUDY, is_found

HERE = Path(__file__).parent

CASES_A_RUN = 4
"""After so many cases a run is resumed to its end."""

OUT_SIZE = "500m"
"""The disk of a machine's parts."""

QUIET_S = 60.0

ENDING_S, ENDING_OF_HOST_S = 170.0, 10.0
"""How long a run may take: all machines are one."""

HOSTS = """[hosts]
how = "{how}"
names = {names}
"""

CUTS = """[crash]
ways = ["kill"]
cuts = 3
clients = 2
accounts = 50
cut_after_s = 0.2
cut_before_s = 0.5
"""

FAMILIES = {"sqlite": "sqlite", "mysql": "mariadbd", "postgresql": "initdb"}
"""What is measured, and the program that it needs."""


@dataclass
class Tally:
    """What was counted of one kind of disturbance."""

    cases: int = 0
    struck: int = 0
    lost: int = 0
    """Trials that broke off and were repeated."""
    seconds: float = 0.0
    found: int = 0


TOLD = ("host `", "cluster", "its disk is full")
"""One of these is in the words of a run that was refused."""

UNCLEAN = ("part", "host")
"""What these leave is undone by `clean --hosts`, as is what a run has left that ended without a machine."""


class Campaign:
    """One cluster, and the cases that it goes through."""

    def __init__(self, hosts: list[Host], seed: int, families: Sequence[str]) -> None:
        """Make the cluster of these machines."""
        self._hosts, self._seed, self._families = hosts, seed, families
        self._ending_s = ENDING_S + ENDING_OF_HOST_S * len(hosts)
        self._scratch = hosts[0].scratch
        make_cluster(hosts)
        self._before = self._look()
        self._runs = 0
        self._cases = 0
        """Of the present run."""
        self._study = ""
        self._lines: set[str] = set()
        """All whole records of the present run so far, on any machine."""
        self._lost: set[tuple[Path, str]] = set()

    def run(self, number: int, what: str | None) -> tuple[Case, int]:
        """Run a case; return it, and how many trials broke off in it."""
        random = Random(f"{self._seed} {number}")
        drawn = random.choices([*WEIGHTS], [*WEIGHTS.values()])[0]
        case = Case(what or drawn, random.choice(self._hosts), random.choice(self._hosts), random)
        if case.what == "cluster":
            case.host = self._hosts[0]
        if not self._study:
            self._begin(number)
        process = self._start(case)
        broken = strike(case, process, self._hosts, self._ending_s)
        codes = {-signal.SIGKILL} if process.pid in case.killed else {*SOUND, 2}
        self._end(case, process, codes | ({130} if case.what == "head interrupted" else set()))
        for path in self._scratch.glob("*/filler"):
            path.unlink()
        for path in self._scratch.glob("ahead-*"):
            path.write_text("0")
        self._repair(broken)
        if not until(lambda: not any(host.parts() for host in self._hosts), QUIET_S):
            case.found.append(f"hung: a part has not ended after {QUIET_S:.0f} s")
        if case.what in UNCLEAN or not self._folders():
            self._clean(case)
        self._compare(case)
        self._count(case)
        lost = self._look_at_attempts(case)
        self._cases += 1
        if self._cases == CASES_A_RUN or case.found or not self._is_open():
            self._finish(case)
        return case, lost

    # ------------------------------------------------------------ the run

    def _begin(self, number: int) -> None:
        """Write the next study."""
        possible = [one for one in self._families if one == "sqlite" or is_found(FAMILIES[one])]
        self._runs += 1
        self._cases = 0
        how = "compare" if number % 3 == 2 else "spread"
        blocks = 2 if how == "compare" else 3 * len(self._hosts)
        text = STUDY.replace("blocks = 1", f"blocks = {blocks}\nrepeat_disturbed = false")
        text = text.replace("clients = [2]", "clients = [1]")
        text = text.format(family=possible[self._runs % len(possible)], storage='ram = "400 MiB"')
        names = str([host.name for host in self._hosts])
        question, rest = text.split("\n", 1)
        load = '[tunings.fast]\n[workloads.load]\nmix = "write-only"\ntables = 1\nrows = 500\n'
        self._study = f"run-{self._runs}"
        path = self._scratch / f"{self._study}.toml"
        path.write_text(f"{question}\n{HOSTS.format(how=how, names=names)}{rest}{load}{CUTS}")

    def _start(self, case: Case) -> subprocess.Popen[str]:
        again = ["--resume"] if self._folders() else []
        case.said += f"$ {case.runner.name}: diskproof run {self._study} {' '.join(again)}\n"
        return case.runner.start("run", f"{self._study}.toml", "--hosts", *again)

    def _end(self, case: Case, process: subprocess.Popen[str], codes: set[int]) -> None:
        """Wait for the run's end: in time, with a known exit code, and with words if it failed."""
        try:
            out, err = process.communicate(timeout=self._ending_s)
        except subprocess.TimeoutExpired:
            case.found.append(f"hung: the run has not ended after {self._ending_s:.0f} s")
            process.kill()
            out, err = process.communicate()
        case.said += f"{out}{err}exit code {process.returncode}\n"
        if any(sign in out + err for sign in BROKEN):
            case.found.append(f"traceback: {err.strip().splitlines()[-1][:200]}")
        elif process.returncode not in codes:
            case.found.append(f"exit code {process.returncode}: {' '.join(err.split())[-300:]}")
        elif process.returncode == 2 and not any(word in err for word in TOLD):
            case.found.append(f"untold: {' '.join(err.split())[-300:]}")

    def _finish(self, case: Case) -> None:
        """Resume the run to its end, and look at all of it."""
        process = self._start(case)
        self._end(case, process, {*SOUND})
        self._compare(case, "after the resumed run: ")
        folders = self._folders()
        if len(folders) != 1:
            case.found.append(f"broken: {len(folders)} run folders")
        for folder in map(RunFolder.open, folders):
            case.found += [f"wrong: {what}" for what in wrong_in(folder, self._hosts)]
            if gone := self._lines - set(_lines(folder.path)):
                case.found.append(f"lost: {len(gone)} finished trials or cuts")
        for host in self._hosts:
            if kept := [*(host.out / "parts").iterdir()]:
                case.found.append(f"left: {kept[0]}")
        self._study, self._lines = "", set()

    def _is_open(self) -> bool:
        """Return whether the run has trials to make."""
        folders = self._folders()
        return not folders or any(wrong_in(RunFolder.open(folders[0]), self._hosts))

    def _folders(self) -> list[Path]:
        """Return the common folder of the run, if it has begun."""
        return [path.parent for path in (self._scratch / "runs" / self._study).glob("*/plan.json")]

    def _repair(self, broken: Sequence[Host]) -> None:
        """Have machines leave and join again; without its first one there is no cluster."""
        if self._hosts[0] in broken:
            leave(self._hosts)
            make_cluster(self._hosts)
            return
        for host in broken:
            host.run("host", "leave")
            host.join(self._hosts[0])

    # ------------------------------------------------------------ what is left

    def _look(self) -> Things:
        """Return all that is there, without Ray's own and what a run that goes on keeps."""
        folders = [host.out for host in self._hosts]
        folders += [host.state / name for host in self._hosts for name in ("lock", "host.json")]
        folders += [self._scratch / "runs", *self._scratch.glob("run-*.toml"), *self._scratch.glob("ahead-*")]
        folders += [path for path in Path("/tmp").glob("diskproof-*") if len(path.name) == 26]
        there = everything(self._scratch, Seen(), tuple(folders))
        rays = {f"process {pid}" for pid in _rays()}
        there = {name: what for name, what in there.items() if name not in rays}
        for host in self._hosts:
            own = [one for one in mounts(host.holder.pid) if not one.point.startswith("/run/netns")]
            there |= {f"mount {one.point} of {host.name}": one.kind for one in own}
        return there

    def _compare(self, case: Case, when: str = "") -> None:
        found: list[str] = []

        def same() -> bool:
            found[:] = differences(self._before, self._look())
            return not found and is_quiet(self._hosts)

        if not until(same, 5):
            journals = [str(path) for host in self._hosts for path in host.state.glob("*.jsonl")]
            case.found += [f"{when}{one}" for one in found or [f"left: {', '.join(journals) or 'a part'}"]]

    def _clean(self, case: Case) -> None:
        process = self._hosts[0].start("clean", "--hosts")
        out, err = process.communicate()
        case.said += f"{out}{err}"
        if process.returncode:
            case.found.append(f"exit code {process.returncode}: `clean --hosts`: {(out + err)[-300:]}")

    def _count(self, case: Case) -> None:
        """Find a trial that counts although its load or server was killed in it."""
        if case.attempt is None:
            return
        folder, name = case.attempt
        for line in (line for path in [folder, *self._folders()] for line in _lines(path)):
            if f'"id":"{name}"' in line and '"finished":true' in line:
                case.found.append(f"counted: {name}, whose {case.what} was killed")
                return

    def _look_at_attempts(self, case: Case) -> int:
        """Return how many trials broke off, and find if it was more than one of a part."""
        lost = set()
        for folder in [path for host in self._hosts for path in host.out.glob("parts/*/*/*/*-*")]:
            lines = _lines(folder)
            self._lines.update(lines)
            made = {path.name for path in (folder / "servers").glob("b*-t*")}
            of_part = {(folder, one) for one in made if not any(f'"id":"{one}"' in line for line in lines)}
            if len(of_part) > 1:
                case.found.append(f"lost: {len(of_part)} trials of {folder}")
            lost |= of_part
        for folder in self._folders():
            self._lines.update(_lines(folder))
        new = lost - self._lost
        self._lost |= lost
        return len(new)


def _lines(folder: Path) -> list[str]:
    """Return the whole records of a run folder."""
    return [line for file in RECORDS for line in RunFolder(folder).record_lines(file)]


def _rays() -> set[int]:
    """Return Ray's processes: its programs have its folder in their words, its workers a title."""
    words = {one.pid: " ".join(words_of(one)) for one in psutil.process_iter()}
    return {pid for pid, said in words.items() if said.startswith("ray::") or "/ray/" in said}


# ---------------------------------------------------------------- the campaign


def main() -> int:
    """Run the cases within namespaces of their own, show each that found something, and the table."""
    arguments = parse()
    if not arguments.inside:
        within = [*NAMESPACES, "--net", "sh", "-c", INIT, "sh", sys.executable, __file__, "--inside"]
        return subprocess.run([*within, *sys.argv[1:]], check=False).returncode
    hide(ROOTS, [HERE.parent, Path(sys.prefix)])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    scratch = Path("/tmp/hosts")
    names = [f"h{number}" for number in range(1, arguments.hosts + 1)]
    for folder in [scratch / "runs", scratch / "clock", *(scratch / f"out-{name}" for name in names)]:
        folder.mkdir(parents=True)
        if folder.name != "clock":
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={OUT_SIZE}", "out", str(folder)], check=True)
    (scratch / "clock" / "sitecustomize.py").write_text(CLOCK)
    console = Console(width=150, highlight=False, soft_wrap=True)
    tallies: dict[str, Tally] = {}
    with machines(names, scratch) as hosts, suppress(KeyboardInterrupt):
        for host in hosts:
            (scratch / f"ahead-{host.name}").write_text("0")
            host.env["AHEAD_S"] = str(scratch / f"ahead-{host.name}")
            host.env["PYTHONPATH"] = f"{scratch / 'clock'}:{HERE.parent / 'python'}"
        run_cases(arguments, Campaign(hosts, arguments.seed, arguments.families), tallies, console)
    console.print(table(tallies))
    return 1 if any(tally.found for tally in tallies.values()) else 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="another seed has other cases")
    parser.add_argument("--count", type=int, default=100, help="number of cases; default: 100")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the cases to run again")
    parser.add_argument("--what", choices=[*WEIGHTS], help="the disturbance of all cases")
    parser.add_argument("--hosts", type=int, default=3, help="number of machines; default: 3")
    parser.add_argument(
        "--families", choices=[*FAMILIES], nargs="+", default=[*FAMILIES], help="what is measured"
    )
    parser.add_argument("--verbose", action="store_true", help="show what the runs of each case said")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def run_cases(
    arguments: argparse.Namespace, campaign: Campaign, tallies: dict[str, Tally], console: Console
) -> None:
    """Run the cases one after the other."""
    for number in arguments.only or range(arguments.count):
        began = time.monotonic()
        case, lost = campaign.run(number, arguments.what)
        tally = tallies.setdefault(case.what, Tally())
        tally.cases += 1
        tally.struck += case.struck
        tally.lost += lost
        tally.found += len(case.found)
        tally.seconds += (took_s := time.monotonic() - began)
        where = f"{case.what} on {case.host.name}, run from {case.runner.name}"
        when = "struck" if case.struck else "the run was over"
        console.print(f"{number}: {where}: {when}, {lost} lost, {took_s:.0f} s", markup=False)
        for one in case.found:
            console.print(f"--seed {arguments.seed} --only {number}: {where}: {one}", markup=False)
        if case.found or arguments.verbose:
            console.print(case.said, markup=False)


def table(tallies: dict[str, Tally]) -> Table:
    """Return what was counted, by kind of disturbance."""
    shown = Table("disturbance", "cases", "struck", "trials lost", "s a case", "found")
    rows = [*tallies.items()]
    total = Counter[str]()
    for _, one in rows:
        total.update(cases=one.cases, struck=one.struck, lost=one.lost, found=one.found)
    seconds = sum(one.seconds for _, one in rows)
    rows.append(("all", Tally(total["cases"], total["struck"], total["lost"], seconds, total["found"])))
    for name, one in rows:
        counts = [str(count) for count in (one.cases, one.struck, one.lost)]
        shown.add_row(name, *counts, f"{one.seconds / max(1, one.cases):.1f}", str(one.found))
    return shown


if __name__ == "__main__":
    sys.exit(main())
