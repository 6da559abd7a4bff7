"""How the cuts of docs/durability.md were made: the commands, and the machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from diskproof.results.machine import Machine
from diskproof.wording.numbers import count


@dataclass(frozen=True)
class Part:
    """One server's cuts in one run."""

    study: str
    scale: str | None
    server: str
    """As the study calls it."""
    needs_folder: bool
    """True if no distribution has the server, so that its folder must be named."""
    cells: tuple[str, ...]
    known: tuple[str, ...]
    """The ids of all cells that the study has."""
    cuts: int
    """Of each cell in each way, as planned."""
    planned: int
    made: int
    machine: Machine
    days: tuple[str, ...]
    """The days on which its cuts were made, ascending; empty if none was."""

    @property
    def command(self) -> str:
        """The command that makes its cuts, with a remark if it would not make exactly these."""
        only, others = narrowed(self.cells, self.known)
        told = ["diskproof crash", f"studies/{self.study}.toml"]
        told += [f"--scale {self.scale}"] if self.scale else []
        told += [f"--only {text}" for text in only]
        told.append(f"--cuts {self.cuts}")
        told += [f"--basedir {self.server}=DIR"] if self.needs_folder else []
        remarks = [f"{self.made:,} of {self.planned:,} planned"] if self.made != self.planned else []
        remarks += [f"these are without {', '.join(others)}, which the command also cuts"] if others else []
        return " ".join([*told, *(["#", "; ".join(remarks)] if remarks else [])])


def narrowed(cells: Sequence[str], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the texts of `--only` for some cells of a study, and the other cells that they also select.

    A cell's id is ``SERVER/STORAGE/TUNING``, and `--only` selects ids that contain a text. If all cells of a
    server or a storage are there, its name stands for them.
    """
    texts: list[str] = []
    for cell in cells:
        server, storage, _ = cell.split("/")
        wider = (f"{server}/", f"{server}/{storage}/")
        of_it = [[one for one in known if one.startswith(text)] for text in wider]
        texts.append(
            next((text for text, one in zip(wider, of_it, strict=True) if set(one) <= set(cells)), cell)
        )
    only = [text for text in dict.fromkeys(texts) if not any(one != text and one in text for one in texts)]
    return only, [one for one in known if one not in cells and any(text in one for text in only)]


def made_by(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the commands that make the page, and where and when its cuts were made."""
    studies = dict.fromkeys(part.study for part in parts)
    folders = " ".join(f"runs/{study}/*-*" for study in studies)
    yield "\n".join(
        ["```", *(part.command for part in parts), f"python tools/durability.py {folders}", "```"]
    )
    machine, days = parts[0].machine, sorted(day for part in parts for day in part.days)
    when = f", {' to '.join(dict.fromkeys((days[0], days[-1])))}" if days else ""
    yield f"Made on {on(machine)}{when}."


def on(machine: Machine) -> str:
    """Return what a machine is, without its name or paths."""
    virtual = f" of a virtual machine ({machine.virtualised})" if machine.virtualised else ""
    return f"{machine.cpu_model}, {count(machine.cpus, 'CPU')}{virtual}"


def differing(parts: Sequence[Part]) -> str | None:
    """Return why runs do not belong on one page; None if they do."""
    for study in dict.fromkeys(part.study for part in parts):
        scales = sorted({part.scale or "its own" for part in parts if part.study == study})
        if len(scales) > 1:
            return f"the runs of {study} are at different scales: {', '.join(scales)}"
    machines = sorted({on(part.machine) for part in parts})
    return f"the runs were made on different machines: {'; '.join(machines)}" if len(machines) > 1 else None
