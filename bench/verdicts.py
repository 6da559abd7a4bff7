"""Verdicts held against what is known: many runs of equal sides (A/A) and of a known difference (A/B).

Each run is a whole `diskproof run` with its own seed and run folder; its line goes to `results.jsonl`.
`--resume` continues a campaign that was broken off. `--table` only shows what there is.

Two designs have the same time: `until` continues until it is decided, `fixed` has blocks of 1.5 s each.
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from rich.console import Console
from rich.table import Table

from diskproof.analysis.analyse import analyse
from diskproof.analysis.folder import analyse_folder
from diskproof.results.folder import RunFolder
from diskproof.stats.proportions import share

OUT = Path("bench") / "results" / "campaign"

Kind = Literal["equal", "delay", "setting"]
Arm = Literal["until", "fixed"]

TRUTHS: dict[Kind, str] = {"equal": "the same", "delay": "slower", "setting": "faster"}
"""The right verdict of each kind. No kind may have a verdict against its truth."""

DELAY = 0.05
"""By how much each request of the slower disk takes longer."""

REQUEST_US = 4000.0
"""Time of each request of the faster disk: so long that nearly all of a transaction is the disk's."""

LOOKS_S = (60, 180, 600)
"""When half-widths are compared."""

FIXED_TRIAL_S = 4.0
"""Seconds of a trial of the fixed design, restart included."""

DISK = """
title = "Every request takes {us:g} us"
description = "Made for a campaign."
[device.memory]
capacity_bytes = {{ value = 4_294_967_296, source = "chosen" }}
latency_us = {{ value = {us}, source = "chosen" }}
mb_per_s = {{ value = 1000.0, source = "chosen" }}
"""

STUDY = """
question = "Campaign: {kind}, {arm}, number {number}"
[design]
{design}
clients = [1]
memory = ["64 MiB"]
seed = {seed}
[servers.db]
family = "{family}"
{sides}
[workloads.load]
mix = "update-index"
tables = 1
rows = 2000
"""

SIDES: dict[Kind, str] = {
    "equal": '[storages.one]\nram = "1 GiB"\n[tunings.safest]\n[tunings.other]\nbase = "safest"\n',
    "delay": '[storages.one]\nvirtual = "./one.toml"\n[storages.other]\nvirtual = "./other.toml"\n'
    "[tunings.safest]\n",
    "setting": '[storages.one]\nvirtual = "./one.toml"\n[tunings.safest]\n[tunings.fast]\n',
}


@dataclass(frozen=True)
class Result:
    """The outcome of one run."""

    kind: Kind
    arm: Arm
    number: int
    run: str
    """Its folder."""
    outcome: str
    ratio: float | None
    low: float | None
    high: float | None
    blocks: int
    trials_s: float
    """Seconds of all its trials."""
    half_widths: dict[str, float | None]
    """After so many seconds of trials."""

    @property
    def right(self) -> bool:
        """Whether the verdict is the truth."""
        return self.outcome == TRUTHS[self.kind]

    @property
    def false(self) -> bool:
        """Whether it is a verdict against the truth; "inconclusive" is none."""
        return self.outcome in ("faster", "slower", "the same") and not self.right


def main(words: Sequence[str] | None = None) -> int:
    """Make what is asked for, and show the table."""
    asked = parse(words)
    console = Console(width=130)
    results = asked.out / "results.jsonl"
    if not asked.table:
        if read(results) and not asked.resume:
            console.print(f"{results} has results: go on with --resume, or choose another --out")
            return 2
        campaign(asked, results, console)
    console.print(table(read(results)))
    return 0


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kinds", nargs="+", choices=[*TRUTHS], default=["equal", "delay"])
    parser.add_argument("--arms", nargs="+", choices=["until", "fixed"], default=["until", "fixed"])
    parser.add_argument("--runs", type=int, default=20, help="runs of each kind and design (20)")
    parser.add_argument("--at-most", type=float, default=600, help="seconds of trials of a run (600)")
    parser.add_argument("--family", default="mysql", choices=["mysql", "postgresql", "sqlite"])
    parser.add_argument("--warm-up", type=float, default=1.0, help="of design `until`, in seconds (1)")
    parser.add_argument("--measure", type=float, default=4.0, help="of design `until`, in seconds (4)")
    parser.add_argument(
        "--design", default="", help="further lines of [design] of `until`, `; ` between them"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--resume", action="store_true", help="go on with a campaign that was broken off")
    parser.add_argument("--table", action="store_true", help="measure nothing, show the results so far")
    return parser.parse_args(words)


def read(results: Path) -> list[Result]:
    """Return the results so far; a line that was cut off is none."""
    if not results.is_file():
        return []
    lines = results.read_text(encoding="utf-8").split("\n")[:-1]
    return [Result(**json.loads(line)) for line in lines]


def campaign(asked: argparse.Namespace, results: Path, console: Console) -> None:
    """Make the runs that are not there yet: one of each kind and design, then the next of each."""
    asked.out.mkdir(parents=True, exist_ok=True)
    for name, us in (("one", REQUEST_US), ("other", REQUEST_US * (1 + DELAY))):
        (asked.out / f"{name}.toml").write_text(DISK.format(us=us), encoding="utf-8")
    made = {(one.kind, one.arm, one.number) for one in read(results)}
    for number in range(1, asked.runs + 1):
        for kind in asked.kinds:
            for arm in asked.arms:
                if (kind, arm, number) in made:
                    continue
                result = run(asked, kind, arm, number)
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
                console.print(f"{kind} {arm} {number}: {result.outcome}, {result.trials_s:.0f} s")


def run(asked: argparse.Namespace, kind: Kind, arm: Arm, number: int) -> Result:
    """Make one run and read it back; RuntimeError if it ends without a verdict."""
    study = asked.out / f"{kind}-{arm}-{number}.toml"
    text = STUDY.format(
        kind=kind,
        arm=arm,
        number=number,
        seed=number,
        family=asked.family,
        sides=SIDES[kind],
        design=design(asked, arm),
    )
    study.write_text(text, encoding="utf-8")
    out = asked.out / "runs"
    command = [sys.executable, "-m", "diskproof", "run", str(study), "--out", str(out)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    runs = sorted((out / study.stem).glob("*-*"))
    if ended.returncode not in (0, 12) or not runs:
        raise RuntimeError(f"{study} ended with {ended.returncode}: {ended.stderr[-2000:]}")
    return result_of(RunFolder.open(runs[-1]), kind, arm, number)


def design(asked: argparse.Namespace, arm: Arm) -> str:
    """Return the design of a run, as a study writes it."""
    if arm == "fixed":
        return f"blocks = {fixed_blocks(asked)}\nwarm_up_s = 0.5\nmeasure_s = 1.5"
    lines = [f"warm_up_s = {asked.warm_up}", f"measure_s = {asked.measure}", f"at_most_s = {asked.at_most}"]
    further = [line for line in asked.design.split("; ") if line]
    if not any(line.startswith("precision") for line in further):
        lines.append('until = "decided"')
    return "\n".join([*lines, *further])


def fixed_blocks(asked: argparse.Namespace) -> int:
    """Return as many blocks of two trials as fit into the time."""
    return max(int(asked.at_most / 2 / FIXED_TRIAL_S), 2)


def result_of(folder: RunFolder, kind: Kind, arm: Arm, number: int) -> Result:
    """Return what a recorded run came to, and how well it knew the ratio after a time."""
    plan, machine, trials = folder.plan(), folder.machine(), folder.trials()
    before_s = folder.trials_s() - sum(trial.took_s for trial in trials)
    whole = analyse_folder(folder)
    half_widths: dict[str, float | None] = {}
    for look_s in LOOKS_S:
        spent_s, until = before_s, []
        for trial in trials:
            spent_s += trial.took_s
            if spent_s <= look_s:
                until.append(trial)
        # Blocks that were not run by then are none: the plan of that moment.
        planned = [one for one in plan.trials if one.id in {trial.id for trial in until}]
        ratio = analyse(plan.model_copy(update={"trials": planned}), machine, until, {}).verdicts[0].ratio
        half_widths[str(look_s)] = ratio.uncertainty if ratio else None
    (verdict,) = whole.verdicts
    return Result(
        kind=kind,
        arm=arm,
        number=number,
        run=str(folder.path),
        outcome=verdict.outcome,
        ratio=verdict.ratio.estimate if verdict.ratio else None,
        low=verdict.ratio.low if verdict.ratio else None,
        high=verdict.ratio.high if verdict.ratio else None,
        blocks=len(plan.blocks()),
        trials_s=folder.trials_s(),
        half_widths=half_widths,
    )


# ---------------------------------------------------------------- table


def table(results: Sequence[Result]) -> Table:
    """Return a row for each kind and design: exact 95% intervals or bounds, medians of times and widths."""
    made = Table()
    heads = ("runs of", "design", "runs", "right", "false", "median time")
    for name in (*heads, *(f"half-width after {look_s / 60:g} min" for look_s in LOOKS_S)):
        made.add_column(name, justify="left" if name in heads[:2] else "right")
    for kind in TRUTHS:
        for arm in ("until", "fixed"):
            some = [one for one in results if (one.kind, one.arm) == (kind, arm)]
            if some:
                widths = [_median([one.half_widths[str(look_s)] for one in some]) for look_s in LOOKS_S]
                made.add_row(
                    kind,
                    arm,
                    str(len(some)),
                    bounds(sum(one.right for one in some), len(some)),
                    bounds(sum(one.false for one in some), len(some)),
                    f"{median(one.trials_s for one in some):.0f} s",
                    *widths,
                )
    return made


def bounds(seen: int, n: int) -> str:
    """Return a count with the exact interval of its share."""
    found = share(seen, n)
    return f"{seen} ({found.low:.1%} to {found.high:.1%})"


def _median(widths: Sequence[float | None]) -> str:
    """Return the median; a run without an interval by then is one of infinite width."""
    middle = median(math.inf if one is None else one for one in widths)
    return "none" if math.isinf(middle) else f"{middle:.1%}"


if __name__ == "__main__":
    sys.exit(main())
