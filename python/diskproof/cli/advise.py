"""`diskproof advise`: the cheapest disk on which a recorded load meets a target."""

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from diskproof.analysis.advised.advise import advise as rank
from diskproof.analysis.advised.advise import durable_cells, why_unknown
from diskproof.analysis.advised.records import Target
from diskproof.analysis.other_disk.predict import MEMORY, answer
from diskproof.cli.disk.sizes import size_of
from diskproof.cli.exits import DONE, THRESHOLD_FAILED
from diskproof.cli.fenced import keep
from diskproof.cli.forms import Form, put_in_form
from diskproof.cli.predict import model_of, nothing, storages_were
from diskproof.cli.sold import sold
from diskproof.cli.values.run import gathered
from diskproof.refusal import RefusalError
from diskproof.report.compose.advised import compose
from diskproof.results.plan import Plan
from diskproof.run.dials import simulate
from diskproof.study.condition import parse_condition
from diskproof.study.price_cards import GIB, read_card, shipped_cards


def advise(
    run: Path,
    /,
    *,
    target: str,
    durable: bool = False,
    load: str | None = None,
    size: str = "100 GiB",
    card: list[Path] | None = None,
    was: list[str] | None = None,
    page: Annotated[Path | None, Parameter(name="--html")] = None,
    format: Form = "text",  # noqa: A002
) -> int:
    """Name the cheapest disk on which a recorded load is predicted to meet a target.

    Parameters
    ----------
    run
        Folder of a finished run; one on two different storages predicts better.
    target
        What the load must do: `throughput >= 2000/s`, `p95 <= 20 ms`, `mean <= 5 ms`; several with commas.
    durable
        Only settings with which commits survive a power cut.
    load
        Part of the ids of the cells that count, such as a workload's name.
    size
        Room that is needed: volumes are priced for it, and smaller disks are left out.
    card
        Price card of your own, beside those that come with diskproof; can be repeated.
    was
        Device file of a storage of the run that is no virtual disk: `STORAGE=FILE.toml`; can be repeated.
    page
        Write it as a page to this file.
    format
        Format of the output.

    """
    wanted = parse_target(target)
    gib = _gib(size)
    known = storages_were(was)
    own = [read_card(path) for path in card or []]
    cards = [*own, *(one for one in shipped_cards() if not own or one.currency == own[0].currency)]
    titles = [one.title for one in cards]
    if twice := sorted({one for one in titles if titles.count(one) > 1}):
        raise RefusalError(f"two price cards have the title `{twice[0]}`; rename one")
    currencies = sorted({one.currency for one in cards})
    if len(currencies) > 1:
        raise RefusalError(f"the price cards have different currencies: {', '.join(currencies)}")
    recorded = gathered(run)
    counting = _of_one_load(recorded.plan, load)
    configurations = sold(cards, gib)
    devices = {one.name: one.device for one in configurations}
    if durable and not any(one.outlives_machine for one in configurations):
        raise RefusalError("--durable: no disk here keeps its data when the machine stops")
    found = answer(
        recorded,
        [MEMORY, *devices],
        lambda device, loads: simulate(devices.get(device, device), loads),
        known,
        lambda device: model_of(devices.get(device, device)),
    )
    cells = [one for one in found.cells if one.cell.id in counting]
    if not cells:
        raise RefusalError(nothing(run, found))
    durably = durable_cells(recorded)
    made = rank(wanted, configurations, cells, durably, durable_only=durable)
    if not made.candidates:
        raise RefusalError(f"{run} has no load whose commits survive a power cut: record one with `safest`")
    if all(one.probability is None for one in made.candidates):
        reasons = dict.fromkeys(reason.text for one in made.candidates if (reason := why_unknown(one)))
        raise RefusalError(f"{run}: nothing could be predicted for this target: {'; '.join(reasons)}")
    screen = compose(made)
    put_in_form(format, screen, made)
    if page:
        from diskproof.report.write import html  # noqa: PLC0415

        keep("advise", page, html.write(screen.document()))
    return DONE if made.chosen else THRESHOLD_FAILED


def parse_target(text: str) -> Target:
    """Read a target such as ``throughput >= 2,000/s, p95 <= 20 ms``."""
    found: dict[str, float] = {}
    for part in re.split(r",(?!\d{3}\b)", text):
        try:
            condition = parse_condition(part)
        except ValueError as error:
            raise RefusalError(f"--target: {error}") from None
        name = PREDICTED.get((condition.figure, condition.relation[0]))
        if name is None or name in found or condition.factor:
            raise RefusalError(
                "--target takes `throughput >= 2000/s`, `p95 <= 20 ms` and `mean <= 5 ms`, each once, not "
                f"`{part.strip()}`; only these are predicted"
            )
        found[name] = condition.bound * condition.unit
    return Target.model_validate(found)


PREDICTED = {("throughput", ">"): "per_s", ("p95", "<"): "p95_us", ("mean", "<"): "mean_us"}


def _gib(text: str) -> float:
    size = size_of("--size", text)
    if not GIB <= size <= 64 * 1024 * GIB:
        raise RefusalError(f"--size takes 1 GiB to 64 TiB, not `{text}`")
    return size / GIB


def _of_one_load(plan: Plan, named: str | None) -> set[str]:
    """Return the ids of the cells that count; RefusalError if they are of several loads."""
    cells = [cell for cell in plan.cells if named is None or named in cell.id]
    if len({cell.workload for cell in cells}) != 1:
        known = ", ".join(sorted({cell.workload for cell in plan.cells}))
        if named is not None and not cells:
            raise RefusalError(
                f"no cell has `{named}` in its id, such as `{plan.cells[0].id}`: --load takes {known}"
            )
        raise RefusalError(f"name one load of the run with --load: {known}")
    return {cell.id for cell in cells}
