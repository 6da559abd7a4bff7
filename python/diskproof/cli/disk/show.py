"""`diskproof disk show`: a device file as a table."""

import json
from typing import Annotated

from cyclopts import Parameter

from diskproof import disk
from diskproof.cli.exits import DONE
from diskproof.cli.screen import put_json, results
from diskproof.report.compose.device import compose
from diskproof.report.write import terminal


def show(device: str, /, *, as_json: Annotated[bool, Parameter(name="--json")] = False) -> int:
    """Show a virtual disk's parameters and the source of each.

    Parameters
    ----------
    device
        A name that `diskproof disk list` shows, or the path of a device file that ends in .toml.
    as_json
        Print the file's content as JSON.

    """
    facts = disk.show(device)
    if as_json:
        put_json(json.dumps(facts, indent=1) + "\n")
        return DONE
    terminal.write(compose(facts), results)
    return DONE
