"""The plan: the cells of a study, and the order of their trials and cuts."""

from collections.abc import Iterable
from typing import Literal

from pydantic import ConfigDict, Field

from diskproof.results.crash import CutLoad, Keep, Must, Says, Way
from diskproof.results.dial import DialPoint
from diskproof.results.factor import CutFactor
from diskproof.results.fault import Fault
from diskproof.results.prices import Price
from diskproof.results.published import Published
from diskproof.results.record import Record, StepId
from diskproof.wording import Message, numbers

Metric = Literal["transactions_per_s", "requests_per_s", "latency_mean_us", "seconds"]
"""What a verdict is about: throughput, of a database or of a disk; at a rate that the study sets, latency; of
a job, its seconds."""

Asks = Literal["speed", "limits"]
"""What a study asks above all: how its levels compare in speed, or what holds each cell back."""

THROUGHPUTS: tuple[Metric, ...] = ("transactions_per_s", "requests_per_s")
"""The metrics that grow with speed; the others are times."""

NO_LEVEL = "-"
"""Level of a factor that does not apply to a cell: a load on bare files has no server and no tuning."""

CUT_LOAD = "[crash]"
"""Name of the load that runs until a cut; no workload of the user's can have it."""


class Cell(Record):
    """One combination of the factors. ``id`` is unique in a study and stable between runs of it."""

    id: str
    server: str
    """``NO_LEVEL`` if the load works on files, without a server; so is its tuning."""
    storage: str
    tuning: str
    workload: str
    """``CUT_LOAD`` if the cell is cut: `Study.load` knows the loads of all cells."""
    memory_bytes: int
    """Buffer pool; 0 without a server."""
    clients: int
    """0 where an imported result does not tell."""
    host: str = NO_LEVEL
    """The machine, if machines are compared."""
    fault: str = NO_LEVEL
    """What befalls the disks of a cell that is cut; ``NO_FAULT`` if others of the study have one."""

    @property
    def has_server(self) -> bool:
        """Whether a database server is under test; else it is the storage alone."""
        return self.server != NO_LEVEL

    def level(self, factor: CutFactor) -> str:
        """Return the level of one factor, as a person reads it."""
        if factor == "memory":
            return numbers.size(self.memory_bytes) if self.has_server and self.memory_bytes else NO_LEVEL
        if factor == "clients" and not self.clients:
            return NO_LEVEL
        return str(getattr(self, factor))


def find(cells: Iterable[Cell], cell_id: str) -> Cell:
    """Return the cell of that id; KeyError if there is none."""
    for cell in cells:
        if cell.id == cell_id:
            return cell
    raise KeyError(cell_id)


class PlannedTrial(Record):
    """One execution of one cell in one block; ``id`` is ``b02-t07-<cell>``'s short form ``b02-t07``."""

    id: StepId
    block: int
    position: int
    cell: str
    host: str | None = None
    """The machine that runs it, in a study over many hosts."""


class PlannedCut(PlannedTrial):
    """One cut to be made."""

    way: Way
    seed: int
    """Of the moment of the cut, of what survives it and of the clients' draws."""


class Scale(Record):
    """Another size of a study: what it shrinks, and what it can still show."""

    name: str
    shrinks: str
    carries: str
    """The conclusions that it can still carry."""


class Phases(Record):
    """How long a steady load is warmed up, and then measured."""

    model_config = ConfigDict(allow_inf_nan=False)

    warm_up_s: float
    measure_s: float


class OfCells(Record):
    """Something that is said of some cells dying in some ways."""

    ways: list[Way]
    servers: list[str]
    storages: list[str]
    tunings: list[str]
    faults: list[str] = []
    """Empty: of a study without any."""

    def covers(self, cell: Cell, way: Way) -> bool:
        """Tell whether it speaks of a cell dying in a way."""
        return (
            way in self.ways
            and cell.server in self.servers
            and cell.storage in self.storages
            and cell.tuning in self.tunings
            and (not self.faults or cell.fault in self.faults)
        )


class Documented(OfCells):
    """What documentation says of some cells."""

    says: Says
    within_s: float | None = None
    """The longest window of loss that is documented; None: no bound is."""
    source: str = ""
    note: str = ""


class Control(OfCells):
    """What must come out, or the campaign or the disk is not to be trusted."""

    must: Must


class Cuts(Record):
    """The cuts of a study, in their random order, fixed before the first one."""

    cells: list[Cell]
    ways: dict[str, list[Way]]
    """The ways in which a server dies on each storage."""
    unverified: dict[str, str] = {}
    """Why it can only be killed, by the storages where that is so."""
    cuts: int
    """Of each cell in each way."""
    at_once: int = 1
    """Cuts that are made beside each other. They share the CPUs, so that they take longer, and a level that
    waits for no disk commits and loses less than alone."""
    keep: Keep
    load: CutLoad | Literal["program"] = "ledger"
    warehouses: int = 1
    """Of `tpcc`."""
    accounts: int
    filler_bytes: int
    """Beside the figures in each row."""
    states: int | None = None
    """Most states of each run that are tried, instead of a random moment; None: such a moment."""
    cut_after_s: float
    """From the first answer to the earliest moment of a cut; `cut_before_s` to the latest."""
    cut_before_s: float
    faults: dict[str, Fault] = {}
    """What the levels of the factor are, but for ``NO_FAULT``."""
    controls: list[Control] = []
    documented: list[Documented] = []
    trials: list[PlannedCut]
    estimated_s: float
    estimated_bytes: int = 0
    """Written to storage that wears: data sets that are copied before cuts, and what the loads write."""

    def cell(self, cell_id: str) -> Cell:
        """Return the cell of that id; KeyError if the plan has none."""
        return find(self.cells, cell_id)

    @property
    def deaths(self) -> list[tuple[Cell, Way]]:
        """Each cell with each of the ways in which it dies."""
        faults = self.faults
        return [
            (cell, way)
            for cell in self.cells
            for way in self.ways[cell.storage]
            if cell.fault not in faults or way in faults[cell.fault].ways
        ]


class Plan(Record):
    """The cells of a study and the random order of their trials, fixed before the first one starts."""

    model_config = ConfigDict(allow_inf_nan=False)

    study: str
    question: str
    asks: Asks = "speed"
    expectation: str = ""
    analysis: str = ""
    imported: bool = False
    """Whether its trials are other tools' results, read from their output: nothing of it was run by us."""
    imported_from: list[str] = []
    """The files of an imported run, each with its tools: ``old.txt (sysbench 1.0.17)``."""
    seed: int
    same_within: float = Field(gt=0, lt=1)
    """Half-width of the band that counts as "the same": 0.03 is 3 percent."""
    warm_up_s: float
    measure_s: float
    phases: dict[str, Phases] = {}
    """Of the workloads that have phases of their own; `phases_of` knows them all."""
    at_most_s: float | None = None
    """The run goes on after its first blocks until each verdict is decided, or its trials took so long; None:
    it has these blocks and no more."""
    precision: float | None = None
    """With `at_most_s`: the run goes on until the interval of each ratio is within this share of it."""
    cpus: int | None = None
    """How many CPUs the server and its load were held to; None: all that the run may use."""
    dilation: int = 1
    """How many times slower time passed in a trial; all figures of it are in its own time."""
    cpus_count: int = 1
    """With `dilation`: how many times each CPU counted for server and load."""
    load_hosts: list[str] = []
    """The machines that run the load; empty: it runs beside the server."""
    scale: Scale | None = None
    """None: the study as written."""
    left_out: list[str] = []
    """Optional servers of the study that the machine did not have; of an imported run, results and why."""
    published: Published | None = None
    """The experiment that the study repeats."""
    prices: dict[str, list[Price]] = {}
    """What each storage is made of and costs, if the study says."""
    dials: dict[str, DialPoint] = {}
    """The storages that are points of a curve over a property of a disk."""
    metrics: dict[str, Metric] = {}
    """What a verdict on each workload is about; default: transactions per second."""
    loads: dict[str, Message] = {}
    """What each workload does, in a few words; empty in older runs and in imported ones."""
    tunings: dict[str, Message] = {}
    """What each tuning of the study's own starts from and changes; empty in older runs and imported ones."""
    scripts: dict[str, str] = {}
    """SHA-256 of every script that the run keeps a copy of, by ``WORKLOAD/FILE``."""
    cells: list[Cell]
    trials: list[PlannedTrial]
    crash: Cuts | None = None
    """The cuts; None: the study asks for none."""
    resume: str = ""
    """The command that continues the run, as it was begun; empty if nobody recorded it."""
    estimated_s: float
    estimated_bytes: int
    """Bytes that the whole run will write: restores and an allowance for the load."""

    @property
    def resumed_by(self) -> str:
        """The command that continues the run, for a sentence."""
        return f"`{self.resume or '--resume'}`"

    def cell(self, cell_id: str) -> Cell:
        """Return the cell of that id; KeyError if the plan has none."""
        return find(self.cells, cell_id)

    @property
    def every_cell(self) -> list[Cell]:
        """Every cell: those that are measured, then those that are cut."""
        return [*self.cells, *(self.crash.cells if self.crash else [])]

    @property
    def every_trial(self) -> dict[str, PlannedTrial]:
        """Every trial by its id, in the order in which they are made: those that measure, then the cuts."""
        return {one.id: one for one in (*self.trials, *(self.crash.trials if self.crash else ()))}

    def with_every_cell(self) -> "Plan":
        """Return the plan with the cells that are cut among the others: a machine needs what both need."""
        return self.model_copy(update={"cells": self.every_cell})

    def metric(self, cell: Cell) -> Metric:
        """Return what a verdict on a cell is about."""
        return self.metrics.get(cell.workload, "transactions_per_s")

    def phases_of(self, cell: Cell) -> Phases:
        """Return how long a cell is warmed up and measured; a job ends by itself and has no phases."""
        return self.phases.get(cell.workload, Phases(warm_up_s=self.warm_up_s, measure_s=self.measure_s))

    def workloads_by_phases(self) -> dict[Phases, list[str]]:
        """Return the steady workloads by their phases: first those that most workloads have."""
        steady = {
            cell.workload: self.phases_of(cell) for cell in self.cells if self.metric(cell) != "seconds"
        }
        found: dict[Phases, list[str]] = {}
        for workload, phases in steady.items():
            found.setdefault(phases, []).append(workload)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def throughput(self, cell_id: str) -> Metric:
        """Return what is counted in a second in a cell's series, whatever its verdict is about."""
        bare = any(cell.id == cell_id and not cell.has_server for cell in self.cells)
        return "requests_per_s" if bare else "transactions_per_s"

    @property
    def hosts(self) -> list[str]:
        """The machines that run it, in their order; empty if it is one machine that nobody named."""
        compared = [cell.host for cell in self.cells if cell.host != NO_LEVEL]
        return list(dict.fromkeys(compared or [trial.host for trial in self.trials if trial.host]))

    @property
    def shares_blocks(self) -> bool:
        """Whether many machines share the blocks, instead of being compared."""
        return len(self.hosts) > 1 and all(cell.host == NO_LEVEL for cell in self.cells)

    def host_of(self, trial_id: str) -> str | None:
        """Return the machine that runs a trial; None if there is but one, or no such trial."""
        return next((trial.host for trial in self.trials if trial.id == trial_id), None)

    def blocks(self, *of: Cell) -> list[int]:
        """Return the numbers of the blocks in which all of these cells are planned, ascending."""
        planned: dict[int, set[str]] = {}
        for trial in self.trials:
            planned.setdefault(trial.block, set()).add(trial.cell)
        return sorted(block for block, cells in planned.items() if {cell.id for cell in of} <= cells)
