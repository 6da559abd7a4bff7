"""A workload as arguments of diskproof-load: as a person would type them, so that a report can show them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from diskproof.results.plan import Phases
from diskproof.study.loads.base import Load, Verb
from diskproof.study.loads.described import options_of
from diskproof.study.loads.own_data import SqlFile
from diskproof.study.part import KeptFile

PERCENTILES = (50, 75, 90, 95, 99, 99.9)

LONG_MEASUREMENT_S = 20
"""From this length on, one-second intervals give the steadiness tests enough bins."""


def prepare_arguments(
    workload: Load, seed: int, copies: Path | None = None, *, any_database: bool = True
) -> list[str]:
    """Return the arguments of `prepare`: they determine the data set.

    `any_database`: the user's SQL may reach all of the server, as it may of one that diskproof starts.
    """
    arguments = [*verb_options(workload, "prepare", copies), *_reach(workload, any_database=any_database)]
    if not workload.prepares:
        return []
    draws = "prepare" in options_of(workload.kind).get("seed", {}).get("verbs", ())
    return [*arguments, *(["--seed", str(seed)] if draws else [])]


def check_arguments(
    workload: Load, copies: Path | None = None, *, only_syntax: bool, any_database: bool = True
) -> list[str]:
    """Return the arguments of `check`, which lets the server's parser read the user's own SQL.

    `only_syntax`: its tables are not there yet.
    """
    arguments = [*verb_options(workload, "check", copies), *_reach(workload, any_database=any_database)]
    return [*arguments, "--syntax"] if only_syntax else arguments


def _reach(workload: Load, *, any_database: bool) -> list[str]:
    reaches = workload.sends_own_sql and not workload.is_recorded
    return ["--any-database"] if reaches and any_database else []


def run_arguments(
    workload: Load,
    phases: Phases,
    clients: int,
    seed: int,
    copies: Path | None = None,
    *,
    any_database: bool = True,
    dilation: int = 1,
) -> list[str]:
    """Return the arguments of `run` for one trial, whose time passes `dilation` times slower.

    `copies` is the folder of the run's own copies of the workload's files; without it, the user's files are
    named.
    """
    arguments = verb_options(workload.for_clients(clients), "run", copies)
    arguments += ["--clients", str(clients)] if workload.takes_clients else []
    if not workload.is_job:
        arguments += ["--warm-up", f"{phases.warm_up_s:g}", "--seconds", f"{phases.measure_s:g}"]
    arguments += ["--report-interval", f"{1 if workload.is_job else interval_s(phases.measure_s):g}"]
    arguments += ["--percentiles", ",".join(f"{percentile:g}" for percentile in PERCENTILES)]
    arguments += _reach(workload, any_database=any_database)
    arguments += ["--dilation", str(dilation)] if dilation > 1 else []
    return [*arguments, "--seed", str(seed)] if workload.takes_seed else arguments


def interval_s(measure_s: float) -> float:
    """Return the length of an interval: a second, or a twentieth of a short measurement."""
    return 1.0 if measure_s >= LONG_MEASUREMENT_S else max(measure_s / LONG_MEASUREMENT_S, 0.05)


def verb_options(workload: Load, verb: Verb, copies: Path | None) -> list[str]:
    """Return a workload's own options of one verb."""
    words = []
    for name, value in workload.options(verb).items():
        for text in _texts(value, copies):
            if name.isupper():
                words.append(text)
            else:
                words += [f"--{name}", text] if text else [f"--{name}"]
    return words


def _texts(value: object, copies: Path | None) -> Iterator[str]:
    """Yield what follows an option's name, once for each time that the option is given."""
    match value:
        case True:
            yield ""
        case SqlFile(path):
            yield str(replace(value, path=copies / path.name) if copies and value.is_kept else value)
        case KeptFile(path):
            yield str(copies / path.name if copies else path)
        case [SqlFile(), *_] as files:
            for file in files:
                yield from _texts(file, copies)
        case list() as items:
            yield ",".join(str(item) for item in items)
        case dict() as variables:
            for name, given in variables.items():
                yield f"{name}={('off', 'on')[given] if isinstance(given, bool) else given}"
        case float():
            yield f"{value:.15g}"
        case _:
            yield str(value)
