"""What `[program]` declares: a program of any language, by the commands that use it."""

import difflib
import re
from collections.abc import Mapping
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from diskproof.study.loads.base import Timed
from diskproof.study.part import AS_IT_IS, PATH, KeptFile, Part, kept_file, mistake
from diskproof.study.tuning import Tuning

PROGRAM = "program"
"""Its name among a study's servers."""

OWN_WORDS = ("directory", "run")
"""Words in braces that every command has."""

MAX_FILE_BYTES = 2**20

Command = Annotated[str, StringConstraints(min_length=1, max_length=4000)]

_file = partial(kept_file, most_bytes=MAX_FILE_BYTES, what="a file of the program")
ProgramFile = Annotated[KeptFile, BeforeValidator(_file), PATH]


class ProgramChoice(Part):
    """A program whose promises are held against what a cut leaves: commands of `sh`.

    In each, `{directory}` is the directory on the disk, `{run}` a short private one elsewhere for sockets,
    and `{NAME}` a variable of the tuning.
    """

    load: Command = Field(
        description="Prints `begin ID` before it asks for something, and `ack ID` when that is promised to "
        "be durable; each a line, flushed at once, and nothing else. It runs until it is stopped"
    )
    check: Command = Field(
        description="Prints the ids that are there, a line each, and ends with 0 unless it finds damage"
    )
    start: Command | None = Field(
        None, description="A server, which stays in the foreground; default: the load itself uses the files"
    )
    recover: Command | None = Field(
        None,
        description="Runs after each start, before load and check: a repair, or a wait until the server "
        "answers. It ends with 0 if the program is ready",
    )
    stop: Command | None = Field(
        None, description="Ends the server in good order, in the rehearsal; default: SIGTERM"
    )
    sync: Command | None = Field(
        None,
        description="Makes durable what was acknowledged before it began. It runs once, half-way to the cut, "
        "and then only those ids count as promised",
    )
    files: list[ProgramFile] = Field(
        [],
        description="Scripts and sources beside the study; each command starts in a folder of copies",
    )
    limit_s: float = Field(
        60.0, gt=0, le=3600, description="Seconds that a command may take, and the load until its first `ack`"
    )

    def check_tunings(self, tunings: Mapping[str, Tuning]) -> None:
        """Refuse tunings that no command uses, and words in braces that no tuning has."""
        for name, tuning in tunings.items():
            if tuning.base != AS_IT_IS or tuning.option_file:
                raise mistake("a [program] has only `variables` here", "tunings", name)
            for variable in tuning.variables:
                if not any(f"{{{variable}}}" in command for command in self.commands):
                    raise mistake(f"no command has `{{{variable}}}`", "tunings", name, "variables")
        known = set(OWN_WORDS).union(*(tuning.variables for tuning in tunings.values()))
        for word in self.braced:
            without = [name for name, one in tunings.items() if word in known - set(one.variables)]
            if word in known and without and word not in OWN_WORDS:
                raise mistake(f"a command has `{{{word}}}`: give it a value", "tunings", without[0])
            if word not in known and (close := difflib.get_close_matches(word, known, n=1)):
                raise mistake(f"a command has `{{{word}}}`; did you mean `{{{close[0]}}}`?", PROGRAM)

    @property
    def braced(self) -> list[str]:
        """The words in braces of all commands, but those of the shell's own `${NAME}`."""
        return [word for command in self.commands for word in re.findall(r"(?<!\$)\{(\w+)\}", command)]

    @property
    def commands(self) -> list[str]:
        """All commands."""
        given = (self.load, self.check, self.start, self.recover, self.stop, self.sync)
        return [command for command in given if command]


class ProgramLoad(Timed):
    """The load of a program: its own command, which diskproof-load does not know."""

    kind: str = PROGRAM
    rehearses = False

    @property
    def prepares(self) -> bool:
        """It begins with an empty directory."""
        return False
