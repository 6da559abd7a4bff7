"""`diskproof disk show`: a device file as a table."""

import json
from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table as RichTable
from rich.text import Text

from diskproof import disk
from diskproof.cli.exits import DONE
from diskproof.cli.screen import put, results
from diskproof.report import words
from diskproof.report.profile import device as told
from diskproof.report.terminal import layout, print_parts, shown


def show(device: str, /, *, as_json: Annotated[bool, Parameter(name="--json")] = False) -> int:
    """Show a virtual disk: its parameters and where each comes from.

    Parameters
    ----------
    device
        A name that `diskproof disk list` shows, or the path of a device file that ends in .toml.
    as_json
        Print the file's content as JSON.

    """
    facts = disk.show(device)
    if as_json:
        put(json.dumps(facts, indent=1) + "\n")
        return DONE
    price = facts.get("price_usd")
    kind = next(iter(facts["device"]))
    heading = [
        shown(facts["title"], style="bold"),
        shown(" ".join(facts["description"].split())),
        shown(f"kind: {kind}; capacity: {words.size(facts['capacity_bytes'])}", style="dim"),
    ]
    if price:
        heading.append(shown(f"price: US$ {price['value']:g} ({price['source']})", style="dim"))
    parts: list[Sequence[Text | RichTable]] = [heading, [layout(told.parameters(facts["device"]), results)]]
    if facts["published"]:
        parts.append([layout(told.published(facts["published"]), results)])
    print_parts(parts, results)
    return DONE
