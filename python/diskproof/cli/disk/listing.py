"""`diskproof disk list`: which virtual disks there are, and which are attached."""

import json
from collections.abc import Iterator
from typing import Annotated

from cyclopts import Parameter
from rich.text import Text

from diskproof import disk
from diskproof.cli.exits import DONE
from diskproof.cli.screen import put_json, results, say
from diskproof.report.write.terminal import print_parts
from diskproof.storage.attached import Attachment, attachments
from diskproof.wording import numbers


def listing(*, as_json: Annotated[bool, Parameter(name="--json")] = False) -> int:
    """List the virtual disks that can be attached and those that are attached.

    Parameters
    ----------
    as_json
        Print one JSON object instead.

    """
    floor_us, why = _floor()
    devices = disk.devices(floor_us)
    attached = attachments()
    if as_json:
        known = [{**one.model_dump(mode="json"), "alive": one.alive} for one in attached]
        told = {"floor_us": floor_us, "devices": devices, "attached": known}
        put_json(json.dumps(told, indent=1) + "\n")
        return DONE
    parts = [[line for device in devices for line in _two_lines(device)]]
    if attached:
        parts.append([Text("Attached", style="bold"), *(line for one in attached for line in _lines(one))])
    print_parts(parts, results)
    if floor_us is None:
        say(f"the fastest disk that this machine can serve is not known: {why}")
    else:
        say(
            f"this machine takes at least {floor_us:.0f} µs for a request to a virtual disk: one that reads "
            "faster is refused; faster writes and flushes take that long"
        )
        say("a loop device adds to that, so attach may also refuse disks that are only a little slower")
    return DONE


def _floor() -> tuple[float | None, str]:
    """Measure the floor; it takes a third of a second."""
    try:
        return disk.floor_us(), ""
    except disk.DiskError as error:
        return None, str(error)


def _two_lines(device: disk.Facts) -> tuple[Text, Text]:
    times = f"read {_latency(device['read_us'])}, write {_latency(device['write_us'])}"
    facts = [device["kind"], numbers.size(device["capacity_bytes"]), times, _standing(device)]
    first = Text.assemble(Text(device["name"], style="bold"), "  ", ", ".join(filter(None, facts)))
    return first, Text(f"  {device['title']}", style="dim")


def _standing(device: disk.Facts) -> str:
    if device["refused"]:
        return "too fast"
    return str(device["label"]).partition(":")[0] if device["label"] else ""


def _lines(one: Attachment) -> Iterator[Text]:
    size = numbers.size(one.facts.size_bytes)
    yield Text.assemble(Text(one.name, style="bold"), Text(f"  {one.facts.device}, {size}"))
    yield Text(f"  {one.block}")
    yield Text(f"  {one.mount_point or 'not mounted'}")
    if one.dilation > 1:
        yield Text(
            f"  its time is {one.dilation} times slower: only `disk profile` and `disk clone` follow it"
        )
    if not one.alive:
        yield Text("  its program has ended: run `diskproof clean`")


def _latency(us: float) -> str:
    return f"{numbers.number(us / 1000)} ms" if us >= 1000 else f"{numbers.number(us)} µs"
