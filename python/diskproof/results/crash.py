"""The words of `[crash]`: the ways to die, what a disk keeps, what a study demands, and what is promised."""

from typing import Literal, get_args

Way = Literal["restart", "kill", "stop", "power"]
"""How it ends: the server is stopped in good order; its processes are killed; the operating system stops, so
that what only its page cache held is lost; the power fails, so that what only a disk's volatile cache held is
lost as well."""

WAYS: tuple[Way, ...] = get_args(Way)

OF_DISKS: tuple[Way, ...] = ("stop", "power")
"""The ways in which disks are cut."""

CutLoad = Literal["ledger", "tpcc", "replay"]
"""What runs until a cut: transfers between accounts, TPC-C's transactions, or those of a server's log."""

Keep = Literal["random", "nothing", "all", "subset", "prefix"]
"""What of the writes that were not yet safe is on the disk after a power cut; `random` draws one of the
others for each cut."""

Says = Literal["kept", "may lose", "may corrupt"]
"""What a server's documentation promises: every acknowledged commit is there; acknowledged commits may be
missing, and what is there is consistent; anything may have happened."""


Must = Literal["keep", "lose", "break"]
"""What a control's cells must do: keep every acknowledged commit in each cut; lose some, or break, in at
least one of the campaign; break in at least one: be damaged, not merely incomplete."""
