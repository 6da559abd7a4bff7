"""`diskproof advise`: the cheapest disk on which a recorded load meets a target."""

import copy
import datetime
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from diskproof import disk
from diskproof.analysis.advised.answer import advise as rank
from diskproof.analysis.advised.answer import durable_cells
from diskproof.analysis.advised.records import Configuration, Target
from diskproof.analysis.folder import gather_folder
from diskproof.analysis.other_disk.answer import MEMORY, answer
from diskproof.analysis.other_disk.records import Predicted, Predictions
from diskproof.cli.exits import DONE, THRESHOLD_FAILED
from diskproof.cli.forms import Form, put_in_form
from diskproof.cli.predict import nothing, read_us, simulate, storages_were
from diskproof.refusal import RefusalError
from diskproof.report.compose.advised import compose
from diskproof.results.folder import RunFolder
from diskproof.results.size import Size
from diskproof.study.price_cards import GIB, PriceCard, read_card, shipped_cards
from diskproof.wording.numbers import number

STALE = datetime.timedelta(days=365)

PAGE_MIB = 1 / 64
"""A page of 16 KiB in MiB: so many MiB a second serve one page a second."""


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
    format: Form = "text",  # noqa: A002
) -> int:
    """Name the cheapest disk on which a recorded load is predicted to meet a target.

    Parameters
    ----------
    run
        Folder of a finished run; one on two different storages predicts better.
    target
        What the load must do: `2000 transactions/s`, `p95 20 ms`, `mean 5 ms`, or several with commas.
    durable
        Only settings with which commits survive a power cut.
    load
        Part of the ids of the cells that count, such as a workload's name.
    size
        Size of volumes that are priced by size.
    card
        Price card of your own, beside those that come with diskproof; can be repeated.
    was
        Device file of a storage of the run that is no virtual disk: `STORAGE=FILE.toml`; can be repeated.
    format
        Format of the output.

    """
    wanted = parse_target(target)
    gib = _gib(size)
    known = storages_were(was)
    cards = [*shipped_cards(), *map(read_card, card or [])]
    currencies = sorted({one.currency for one in cards})
    if len(currencies) > 1:
        raise RefusalError(f"the price cards have different currencies: {', '.join(currencies)}")
    gathered = gather_folder(RunFolder.open(run))
    with tempfile.TemporaryDirectory(prefix="diskproof-advise-") as folder:
        sold, files = _configurations(cards, gib, Path(folder))
        found = answer(
            gathered,
            [MEMORY, *(one.device for one in sold)],
            lambda device, loads: simulate(files.get(device, device), loads),
            lambda device: read_us(files.get(device, device)),
            known,
        )
    if not found.cells:
        raise RefusalError(nothing(run, found))
    made = rank(wanted, sold, _of_one_load(found, load), durable_cells(gathered), durable_only=durable)
    if not made.candidates:
        raise RefusalError(f"{run} has no load whose commits survive a power cut: record one with `safest`")
    put_in_form(format, compose(made), made)
    return DONE if made.chosen else THRESHOLD_FAILED


def parse_target(text: str) -> Target:
    """Read a target such as ``2000 transactions/s, p95 20 ms``."""
    found: dict[str, float] = {}
    for part in text.split(","):
        rate = re.fullmatch(r"\s*([\d_]*\.?\d+)\s*(?:transactions)?\s*/\s*s\s*", part)
        time = re.fullmatch(r"\s*(p95|mean)\s+(\d*\.?\d+)\s*(us|ms|s)\s*", part)
        name = "per_s" if rate else f"{time[1]}_us" if time else ""
        if not name or name in found:
            raise RefusalError(
                "--target takes `2000 transactions/s`, `p95 20 ms` or `mean 5 ms`, each once, not "
                f"`{part.strip()}`"
            )
        value = float(rate[1].replace("_", "")) if rate else 0.0
        if time:
            value = float(time[2]) * {"us": 1, "ms": 1000, "s": 1_000_000}[time[3]]
        if not 0 < value < 1e12:
            raise RefusalError(f"--target: `{part.strip()}` must be above 0")
        found[name] = value
    return Target.model_validate(found)


def _gib(text: str) -> float:
    try:
        size = int(TypeAdapter(Size).validate_python(text))
    except ValidationError:
        raise RefusalError(f"--size takes a size such as `100 GiB`, not `{text}`") from None
    if not GIB <= size <= 64 * 1024 * GIB:
        raise RefusalError(f"--size takes 1 GiB to 64 TiB, not `{text}`")
    return size / GIB


def _of_one_load(found: Predictions, load: str | None) -> Sequence[Predicted]:
    cells = [one for one in found.cells if load is None or load in one.cell.id]
    loads = sorted({one.cell.workload for one in cells})
    if len(loads) != 1:
        known = sorted({one.cell.workload for one in found.cells})
        raise RefusalError(f"name one load of the run with --load: {', '.join(known)}")
    return cells


def _configurations(
    cards: Sequence[PriceCard], gib: float, folder: Path
) -> tuple[list[Configuration], dict[str, str]]:
    """Return what can be bought by some cards, and the device file of each by its name."""
    today = datetime.datetime.now(datetime.UTC).date()
    found, files = [], {}
    for card in cards:
        shown = disk.show(card.device)
        sized = card.per_gib > 0
        for iops in card.iops.levels() if card.iops else (None,):
            mib_per_s = None
            if card.mib_per_s:
                needed = (iops or 0.0) * PAGE_MIB
                mib_per_s = min(max(card.mib_per_s.included, needed), card.mib_per_s.most)
            parts = [card.title]
            parts += [f"{number(gib)} GiB"] if sized else []
            parts += [f"{number(iops)} IOPS"] if iops else []
            parts += [f"{number(mib_per_s)} MiB/s"] if mib_per_s else []
            name = ", ".join(parts)
            files[name] = card.device
            if len(parts) > 1:
                path = folder / f"{len(files)}.toml"
                path.write_text(_changed(card, shown, gib if sized else None, iops, mib_per_s))
                files[name] = str(path)
            configuration = Configuration(
                name=name,
                device=name,
                currency=card.currency,
                a_month=card.a_month(gib, iops, mib_per_s),
                stale_since=card.date.isoformat() if today - card.date > STALE else None,
                source=card.source,
            )
            found.append(configuration)
    return found, files


def _changed(
    card: PriceCard, shown: disk.Facts, gib: float | None, iops: float | None, mib_per_s: float | None
) -> str:
    """Return a device file with what is bought of it."""
    made = copy.deepcopy(shown["device"])
    volume = made.get("cloud")
    if volume is None:
        raise RefusalError(
            f"the price card `{card.title}` sells size, IOPS or MiB/s of `{card.device}`, which is no cloud "
            "volume"
        )
    bought = {
        "capacity_bytes": None if gib is None else round(gib * GIB),
        "mib_per_s": mib_per_s,
    }
    for name, value in bought.items():
        if value is not None:
            volume[name] = {"value": value, "source": "bought"}
    if iops is not None:
        volume["iops"] = {"fixed": {"value": float(iops), "source": "bought"}}
        volume["burst"] = None
    elif volume.get("burst"):
        volume["burst"]["credits"] = {"value": 0.0, "source": "used up: what lasts is bought"}
    lines = [f"title = {_quoted(card.title)}", 'description = "as bought"', *_lines("device", made)]
    return "\n".join(lines) + "\n"


def _lines(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - whatever a device file holds
    """Yield a tree as TOML with dotted keys."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _lines(f"{name}.{key}", inner)
    elif value is not None:
        yield f"{name} = {_quoted(value) if isinstance(value, str) else value}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'
