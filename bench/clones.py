"""How near clones come: each virtual disk is cloned without its file, and held-back figures are compared.

With --simulate a disk is "measured" in virtual time, which takes seconds and needs no root. Otherwise each
one is attached, and measured through its block device with fio: all of them first, and alone, because other
work would be in the figures. The fits come after that, in virtual time. --again fits the kept measurements
anew. Writes a table to stdout, and bench/results/clones.json with the device files in bench/results/clones.
Ends with 1 if fewer than the goal's share of held-back cells agree.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table

from diskproof import disk
from diskproof.cli import call
from diskproof.cli.disk.clone import measured
from diskproof.profile.clone.cells import FULL, QUICK, Observation, figures_of, plan, wide_plan
from diskproof.profile.clone.kinds.spinning import FASTEST_US
from diskproof.profile.clone.make import make
from diskproof.profile.clone.material import Material, material_of
from diskproof.profile.plan import Effort
from diskproof.profile.simulated import MODELLED
from diskproof.results.clone import Clone
from diskproof.results.modelled import MeasureName
from diskproof.results.profile import Probe, Profile, ProfilePlace
from diskproof.stats.quantiles import known_percentiles

RESULTS = Path(__file__).parent / "results" / "clones.json"

GOAL = 0.8
"""Share of held-back cells whose throughput, median and 99th percentile all reach their goals."""

UNUSED = ("null", "dram")
"""They answer faster than any machine can."""

SEED = 7
"""Of the disk that is cloned; the fit draws from others."""

SIMULATED_S = 10
"""Virtual seconds of each cell, so that the queue of a slow disk forms."""

MOST_REQUESTS = 100_000
"""Of a simulated cell, so that the fastest ones take a second too."""

PERCENTILES = {"50": "median_us", "95": "p95_us", "99": "p99_us"}


def main(words: Sequence[str] | None = None) -> int:
    """Clone what is asked for, show how near it came, and keep it."""
    arguments = parse(words)
    names = arguments.only or [one["name"] for one in disk.devices() if one["name"] not in UNUSED]
    console = Console(width=130)
    clones: dict[str, Clone] = {}
    folder, effort = arguments.out.with_suffix(""), QUICK if arguments.quick else FULL
    effort = effort.lasting(arguments.seconds) if arguments.seconds else effort
    folder.mkdir(parents=True, exist_ok=True)
    if not (arguments.simulate or arguments.again):
        for name in names:
            keep_measured(name, effort, folder / f"{name}.json", arguments.dilation)
    for name in names:
        material = (
            simulated_material(name, effort) if arguments.simulate else kept_material(folder / f"{name}.json")
        )
        if material is None:
            continue
        file = folder / f"{name}.toml"
        made = make(material, str(file), None, lambda *_: None)
        file.write_text(made.text)
        clones[name] = made.clone
        console.print(
            f"[dim]{name}: {made.clone.kind}, {agreeing(made.clone):.0%} of held-back cells[/dim]",
            highlight=False,
        )
    console.print(shown(clones))
    told = {name: one.model_dump(mode="json", exclude={"profile"}) for name, one in clones.items()}
    arguments.out.write_text(json.dumps(told, indent=1))
    return 0 if clones and all(agreeing(one) >= GOAL for one in clones.values()) else 1


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulate", action="store_true", help="measure in virtual time, not with fio")
    parser.add_argument("--quick", action="store_true", help="as `diskproof disk clone --quick`")
    parser.add_argument("--again", action="store_true", help="measure nothing; fit what was measured before")
    parser.add_argument("--seconds", type=float, help="of each cell, as `diskproof disk clone --seconds`")
    parser.add_argument("--dilation", type=int, default=1, help="as `diskproof disk attach --dilation`")
    parser.add_argument("--only", nargs="+", help="some of the disks")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of every figure, value by value")
    return parser.parse_args(words)


# ---------------------------------------------------------------- in virtual time


def simulated_material(name: str, effort: Effort) -> Material:
    """Return what a measurement of a bare virtual disk would find, and nothing else of its file."""
    shown_facts = disk.show(name)
    size_bytes = int(shown_facts["capacity_bytes"])
    place = ProfilePlace(
        kind="block device", name=name, path="", size_bytes=size_bytes, writable=True, direct=True
    )
    observations = _observed(name, [one for one in plan(place, effort) if one.pattern in MODELLED])
    slow = max(one.figures["median_us"] for one in observations if _is_first(one)) > FASTEST_US
    if slow:
        observations += _observed(name, wide_plan(place))
    return Material(
        name=name,
        how="Simulated.",
        observations=list({one.probe: one for one in observations}.values()),
        capacity_bytes=size_bytes,
        capacity_source="measured",
        sector_bytes=int(shown_facts["sector_bytes"]),
        whole_disk=slow,
        longest_s=SIMULATED_S,
    )


def _is_first(one: Observation) -> bool:
    return one.probe.pattern == "random-read" and one.probe.depth == 1


def _observed(name: str, probes: Sequence[Probe]) -> list[Observation]:
    length = {"seconds": SIMULATED_S, "requests": MOST_REQUESTS}
    told = disk.simulate_probes(name, [{"probe": probe.model_dump()} | length for probe in probes], SEED)
    return [_observation(probe, one) for probe, one in zip(probes, told, strict=True)]


def _observation(probe: Probe, told: disk.Facts) -> Observation:
    known = known_percentiles(told["requests"], PERCENTILES)
    figures = figures_of(told["iops"], {name: told[PERCENTILES[name]] for name in known})
    return Observation(probe, figures, "simulated", SIMULATED_S)


# ---------------------------------------------------------------- through a block device


def keep_measured(name: str, effort: Effort, record: Path, dilation: int) -> None:
    """Attach a disk, measure its block device, and keep the profile; nothing if it cannot be served here."""
    record.unlink(missing_ok=True)
    if call(["disk", "attach", name, "--none", "--dilation", str(dilation)]) != 0:
        return
    try:
        material, invalid = measured(name, effort, name)
        assert material.profile is not None
        kept = {"whole_disk": material.whole_disk, "profile": material.profile.model_dump(mode="json")}
        record.write_text(json.dumps(kept, indent=1))
        for note in material.notes if invalid else ():
            print(f"{name}: {note.text}", file=sys.stderr)
    finally:
        call(["disk", "detach", name])


def kept_material(record: Path) -> Material | None:
    """Return what was measured of a disk; None if it could not be served."""
    if not record.exists():
        return None
    kept = json.loads(record.read_text())
    return material_of(Profile.model_validate(kept["profile"]), whole_disk=kept["whole_disk"])


# ---------------------------------------------------------------- the table


def agreeing(clone: Clone, *, fitted: bool = False) -> float:
    """Return the share of cells whose figures all reach their goals."""
    cells = [list(some) for _, some in groupby(clone.of(fitted=fitted), key=lambda one: one.probe)]
    good = [all(one.within(one.model) is not False for one in some) for some in cells]
    return sum(good) / len(good) if good else 0.0


def shown(clones: dict[str, Clone]) -> Table:
    """Return a row a disk: the kind, and the share of held-back figures that reach their goals."""
    table = Table(
        "disk", "kind", "error", "held-back cells", "requests/s", "median", "p95 or p99", "fitted cells"
    )
    for name, clone in clones.items():
        reached: dict[MeasureName, list[bool]] = defaultdict(list)
        for one in clone.of(fitted=False):
            reached[one.measure].append(one.within(one.model) is True)
        tails = reached["p99_us"] + reached["p95_us"]
        shares = [f"{sum(one)} of {len(one)}" for one in (reached["iops"], reached["median_us"], tails)]
        error = f"{clone.tried[0].error:.2f}"
        table.add_row(
            name, clone.kind, error, f"{agreeing(clone):.0%}", *shares, f"{agreeing(clone, fitted=True):.0%}"
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
