"""The machines of a study over many hosts."""

from typing import Annotated, Literal

from pydantic import Field

from diskproof.study.part import Distinct, Name, Part

How = Literal["compare", "spread"]


class HostsChoice(Part):
    """The machines that `--hosts` uses."""

    how: How = Field(
        description="`compare`: each machine runs every cell, and the machine is a factor. `spread`: equal "
        "machines share the blocks, for the same answer sooner"
    )
    names: Annotated[list[Name], Distinct] = Field(
        min_length=1,
        max_length=1_000,
        description="The machines, as `diskproof host join --label` called them; the first is the baseline",
    )
