"""docs/prediction.md: predictions beside what was measured, over recorded runs.

``python tools/prediction.py RUN...`` predicts each load of each run on each of its storages from the other
ones, and prints the errors beside those of naive baselines. ``--write`` also writes the page, and the widths
of the intervals into analysis/other_disk/errors.py.
"""

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from diskproof import disk
from diskproof.analysis.folder import gather_folder
from diskproof.analysis.other_disk import errors
from diskproof.analysis.other_disk.calibrated import Calibrated, Source, calibrate
from diskproof.analysis.other_disk.predict import MEMORY, combined, load_key, scaled, sources_of
from diskproof.analysis.other_disk.records import Predicted
from diskproof.cli.predict import storages_were
from diskproof.results.folder import RunFolder
from diskproof.results.limit import Limit
from diskproof.run.dials import simulate
from diskproof.stats.grouping import grouped
from diskproof.wording.numbers import number
from paths import DOCS

PAGE = DOCS / "prediction.md"
BEGIN, END = "<!-- begin: made by tools/prediction.py -->", "<!-- end -->"

FEWEST = 15
"""Predictions of a kind that give it a width of its own."""


@dataclass(frozen=True)
class Case:
    """One prediction of a cell that was measured."""

    run: str
    target: Calibrated
    sources: tuple[Calibrated, ...]
    made: Predicted

    @property
    def error(self) -> float | None:
        """ln(measured / predicted); None if nothing was predicted."""
        per_s = self.made.per_s
        return None if per_s is None else math.log(self.target.source.per_s / per_s.estimate)

    @property
    def doubted(self) -> float | None:
        """The error over the doubt of the record that it rests on."""
        return None if self.error is None or not self.made.doubt else self.error / self.made.doubt

    @property
    def of_p95(self) -> float | None:
        """The same of the 95th percentile."""
        measured, made = self.target.source.p95_us, self.made.p95_us
        return math.log(measured / made) if measured and made else None

    @property
    def device(self) -> str:
        """The device that is predicted."""
        return self.target.source.device


def cases_of(run: str, known: Sequence[Calibrated]) -> Iterator[Case]:
    """Yield each load on each of its storages, predicted from each other one and from all others."""
    for device in sorted({one.source.device for one in known}):
        made = dict(
            zip(
                [one.source.cell.id for one in known],
                simulate(device, [scaled(one, device) for one in known]),
                strict=True,
            )
        )
        for group in grouped(known, lambda one: load_key(one.source.cell)).values():
            for target in (one for one in group if one.source.device == device):
                others = [one for one in group if one.source.device != device]
                choices = [[one] for one in others] + ([others] if len(others) > 1 else [])
                for chosen in choices:
                    found = [(one, made[one.source.cell.id]) for one in chosen]
                    yield Case(run, target, tuple(chosen), combined(device, found))


# ---------------------------------------------------------------- baselines


@cache
def _probed(device: str, pattern: str, depth: int, figure: str) -> float | None:
    if device == MEMORY:
        return None
    said = disk.simulate(device, pattern, depth, seconds=5, requests=100_000_000)
    return float(said[figure]) or None


def _by(device: Callable[[str], float | None]) -> Callable[[Case], float | None]:
    def error(case: Case) -> float | None:
        source = case.sources[0].source
        before, after = device(source.device), device(case.device)
        if not before or not after:
            return None
        return math.log(case.target.source.per_s / (source.per_s * after / before))

    return error


BASELINES: Mapping[str, Callable[[Case], float | None]] = {
    "unchanged": _by(lambda _: 1.0),
    "ratio of IOPS": _by(lambda device: _probed(device, "mixed", 32, "iops")),
    "ratio of flush times": _by(lambda device: _probed(device, "synced-write", 1, "iops")),
}


# ---------------------------------------------------------------- figures


def quantile(values: Sequence[float], at: float) -> float:
    """Return the smallest value with at least that share of them up to it."""
    ordered = sorted(values)
    return ordered[min(math.ceil(at * len(ordered)), len(ordered)) - 1] if ordered else math.nan


def _off(error: float) -> float:
    """Return how far a prediction is off, as a share of what was measured."""
    return abs(math.exp(-error) - 1)


def widths(cases: Iterable[Case]) -> dict[Limit | None, float]:
    """Return the half widths of 90% intervals over the doubt, by predicted limit; None: of all cases."""
    known = [(case.made.limit, abs(error)) for case in cases if (error := case.doubted) is not None]
    found: dict[Limit | None, float] = {None: _conformal([error for _, error in known])}
    for limit in {limit for limit, _ in known if limit}:
        errors_ = [error for name, error in known if name == limit]
        if len(errors_) >= FEWEST:
            found[limit] = _conformal(errors_)
    return found


def _conformal(errors_: Sequence[float]) -> float:
    """Return the quantile that holds a new error with 90% (split conformal prediction: Lei et al., 2018)."""
    return quantile(errors_, errors.CONFIDENCE * (1 + 1 / max(len(errors_), 1)))


def held_out(
    some: Sequence[Case], cases: Sequence[Case], units: Callable[[Case], Sequence[str]]
) -> tuple[float, float]:
    """Return the share of cells in their intervals, and the median width.

    `units` names what a case has to do with, the predicted one first. The intervals of a unit come from cases
    that have nothing to do with it.
    """
    held, factors = [], []
    for name in sorted({units(case)[0] for case in some}):
        found = widths(case for case in cases if name not in units(case))
        for case in some:
            if units(case)[0] == name and case.error is not None and case.made.doubt:
                width = found.get(case.made.limit, found[None]) * case.made.doubt
                held.append(abs(case.error) <= width)
                factors.append(math.exp(2 * width))
    return sum(held) / max(len(held), 1), quantile(factors, 0.5)


def _row(name: str, found: Sequence[float | None]) -> str:
    known = [_off(one) for one in found if one is not None]
    if not known:
        return f"| {name} | 0 | n/a | n/a |"
    cells = (name, str(len(known)), f"{quantile(known, 0.5):.0%}", f"{quantile(known, 0.9):.0%}")
    return "| " + " | ".join(cells) + " |"


UNITS: Mapping[str, Callable[[Case], Sequence[str]]] = {
    "disk": lambda case: [case.device, *(one.source.device for one in case.sources)],
    "load": lambda case: [case.target.source.cell.workload],
    "server": lambda case: [case.target.source.cell.server],
}

HEAD = "| | cells | median error | 90% of errors below |\n|---|---|---|---|"


def report(cases: Sequence[Case]) -> str:
    """Return all tables."""
    disks = [case for case in cases if MEMORY not in (case.device, *(s.source.device for s in case.sources))]
    runs = sorted({case.run for case in cases})
    cells = {(case.run, case.target.source.cell.id) for case in cases}
    parts = [f"{len(cells)} measured cells, of the runs {', '.join(runs)}."]
    for title, some in (
        ("From one disk to another", [case for case in disks if len(case.sources) == 1]),
        ("From two or more disks to another", [case for case in disks if len(case.sources) > 1]),
        ("From or to main memory", [case for case in cases if case not in disks and len(case.sources) == 1]),
    ):
        if some:
            parts += [f"### {title}", *_part(some, cases)]
    return "\n\n".join(parts) + "\n"


def _part(some: Sequence[Case], cases: Sequence[Case]) -> Iterator[str]:
    """Yield the paragraphs and tables of some predictions."""
    answered = [case for case in some if case.error is not None]
    rows = [_row("diskproof", [case.error for case in some])]
    rows += [_row(name, [error(case) for case in answered]) for name, error in BASELINES.items()]
    rows.append(_row("diskproof's 95th percentile", [case.of_p95 for case in some]))
    yield "\n".join([HEAD, *rows])
    yield f"Without a prediction: {len(some) - len(answered)} of {len(some)}."
    said = []
    for name, units in UNITS.items():
        if len({units(case)[0] for case in answered}) > 1:
            share, factor = held_out(answered, cases, units)
            said.append(f"| {name} | {share:.0%} | {factor:.2f} |")
    yield "\n".join(
        ["| intervals, each left out in turn | hold | median width, a factor of |", "|---|---|---|", *said]
    )
    kinds = sorted({case.made.limit for case in answered}, key=str)
    by_kind = (
        _row(f"predicted limit: {kind or 'none'}", [c.error for c in answered if c.made.limit == kind])
        for kind in kinds
    )
    yield "\n".join([HEAD, *by_kind])


def every(cases: Sequence[Case]) -> Iterator[str]:
    """Yield a line for each prediction, the worst last."""
    for case in sorted(cases, key=lambda one: abs(one.error) if one.error is not None else -1.0):
        cell, made = case.target.source.cell, case.made.per_s
        sources = "+".join(one.source.cell.storage for one in case.sources)
        scales = ", ".join(
            f"{math.exp(one.scales.cpu):.2f}/{math.exp(one.scales.disk):.2f}" for one in case.sources
        )
        error = "" if case.error is None else f"{math.exp(-case.error) - 1:+.0%}"
        yield (
            f"{case.run:22} {cell.id:48} from {sources:22} measured {number(case.target.source.per_s):>7} "
            f"predicted {number(made.estimate) if made else 'none':>7} "
            f"{error:>6} {case.made.limit or '-'} "
            f"(scales {scales})"
        )


def _rewrite(path: Path, pattern: str, by: str) -> None:
    text = path.read_text()
    found = re.sub(pattern, lambda _: by, text, count=1, flags=re.DOTALL)
    if found == text and by not in text:
        raise SystemExit(f"{path} has no place for the figures")
    path.write_text(found)


def _write_errors(cases: Sequence[Case]) -> None:
    """Write the widths of intervals into the code."""
    found = sorted(widths(cases).items(), key=lambda item: str(item[0]))
    rows = "".join(f"    {json.dumps(limit) if limit else None}: {width:.2f},\n" for limit, width in found)
    path, text = Path(errors.__file__), f"WIDTH: Mapping[Limit | None, float] = {{\n{rows}}}"
    _rewrite(path, r"WIDTH: Mapping\[Limit \| None, float\] = \{.*?\}", text)
    of_latency = _conformal([abs(one) for case in cases if (one := case.of_p95) is not None])
    _rewrite(path, r"LATENCY_WIDTH = [\d.]+", f"LATENCY_WIDTH = {of_latency:.2f}")


def main() -> None:
    """Predict, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--every", action="store_true", help="a line for each prediction")
    parser.add_argument("--was", nargs="+", help="device files of real disks, as in `diskproof predict`")
    arguments = parser.parse_args()
    devices = storages_were(arguments.was)
    cases: list[Case] = []
    for path in arguments.runs:
        gathered = gather_folder(RunFolder.open(path))
        sources = [one for one in sources_of(gathered, devices) if isinstance(one, Source)]
        name = f"{gathered.plan.study}{'-2' if any(c.run == gathered.plan.study for c in cases) else ''}"
        cases += cases_of(name, calibrate(sources, simulate))
    if arguments.every:
        sys.stdout.writelines(f"{line}\n" for line in every(cases))
    said = report(cases)
    sys.stdout.write(said + "\n")
    if arguments.write:
        _rewrite(PAGE, f"{re.escape(BEGIN)}.*{re.escape(END)}", f"{BEGIN}\n\n{said}\n{END}")
        _write_errors(cases)


if __name__ == "__main__":
    main()
