"""The study file. Each option has its name, type, limits, default and meaning once, here or beside it."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field, field_validator, model_validator

from diskproof.families import of
from diskproof.families.facts import LEVELS, Level
from diskproof.results.factor import Factor
from diskproof.results.fault import NO_FAULT
from diskproof.results.plan import CUT_LOAD, Asks, Phases
from diskproof.results.record import Family, Role
from diskproof.study.condition import Condition, Threshold
from diskproof.study.crash import CrashChoice
from diskproof.study.design import Design
from diskproof.study.dials import expanded
from diskproof.study.faults import FaultChoice
from diskproof.study.hosts import HostsChoice
from diskproof.study.loads import Workload
from diskproof.study.loads.base import Load, Timed
from diskproof.study.loads.replay import Replay
from diskproof.study.part import AS_IT_IS, DEFAULT_TUNINGS, Name, OfLevels, Part, mistake
from diskproof.study.places import PlaceChoice
from diskproof.study.price_cards import PriceCard
from diskproof.study.program import PROGRAM, ProgramChoice
from diskproof.study.published import PublishedChoice
from diskproof.study.scales import ScaleChoice
from diskproof.study.servers import THEIRS, ServerChoice
from diskproof.study.storages import StorageChoice
from diskproof.study.tuning import Tuning
from diskproof.wording import Message, numbers

OF_DATABASES = {"load", "clients", "warehouses", "accounts", "filler_bytes"}
"""Keys of `[crash]` that describe the load of a database."""

SLOWED = ("virtual", "composed", "ram")
"""The kinds of places that `dilation` can slow, and main memory, which has no time of its own."""


class Study(Part):
    """A question, and the factors that vary."""

    question: str = Field(min_length=1, description="What the study asks, in a sentence")
    asks: Asks = Field(
        "speed",
        description="What the answer begins with: `speed`, or the `limits` that hold the cells back",
    )
    expectation: str = Field("", description="What its author expects and why, written before the run")
    analysis: str = Field("", description="How to read the outcome; printed in the report")
    design: Design = Field(default_factory=Design, description="How the experiment is made")
    servers: dict[Name, ServerChoice] = Field(
        {}, description="Servers under test, by name; none for a study of bare files only (`fileio`)"
    )
    storages: dict[Name, StorageChoice] = Field(
        {}, description="Storage layouts, by name; none if every server has a `url`"
    )
    tunings: dict[Name, Tuning] = Field(
        default={name: Tuning(base=None, variables={}) for name in DEFAULT_TUNINGS},
        min_length=1,
        description="Tuning levels: `safest`, `fast`, `unsafe`, or your own. A server with a `url` has "
        "`as-it-is` alone if the study names none",
    )
    program: ProgramChoice | None = Field(
        None, description="A program of your own that is cut, instead of servers ([programs.md](programs.md))"
    )
    workloads: dict[Name, Workload] = Field(
        {}, description="Measured loads, by name; none for a study of safety only (`crash`)"
    )
    crash: CrashChoice | None = Field(
        None, description="Power cuts while clients commit, and what is left after them"
    )
    faults: dict[Name, FaultChoice] = Field(
        {}, description="Faults of the disks while clients commit, by name, each a level of the cuts"
    )
    hosts: HostsChoice | None = Field(
        None, description="Machines that run the study with `--hosts`; without that it runs on one"
    )
    thresholds: list[Threshold] = Field(
        [],
        description="[Conditions](compare.md#conditions) that the run must prove, such as `p99 <= 20 ms`; "
        "those about a server that is left out are skipped",
    )
    scale: Name | None = Field(
        None, description="Scale to use without `--scale`; default: the study as written"
    )
    scales: dict[Name, ScaleChoice] = Field(
        {}, description="The study in other sizes, by name, for `--scale NAME`"
    )
    published: PublishedChoice | None = Field(
        None, description="The experiment that the study repeats, and its figures"
    )
    prices: dict[Name, PriceCard] = Field(
        {}, description="Price cards of devices, by name; `bought` of a storage names them"
    )

    @model_validator(mode="before")
    @classmethod
    def _a_dial_is_many_storages(cls, study: object) -> object:
        """Put a storage for each value in the place of one that varies."""
        return expanded(study)

    @model_validator(mode="before")
    @classmethod
    def _a_given_server_stays_as_it_is(cls, study: object) -> object:
        """Add the tuning levels of a study that names none, if one of its servers is there already."""
        if not isinstance(study, dict) or "tunings" in study:
            return study
        servers = study.get("servers")
        if not isinstance(servers, dict):
            return study
        given = [name for name, server in servers.items() if isinstance(server, dict) and "url" in server]
        if not given:
            return study
        own = [name for name in servers if name not in given]
        levels = {key: {"servers": own} for key in DEFAULT_TUNINGS} if own else {}
        return {**study, "tunings": {**levels, AS_IT_IS: {"servers": given}}}

    @model_validator(mode="before")
    @classmethod
    def _a_program_is_a_server(cls, study: object) -> object:
        """Add the server that stands for the program; its tunings have no level to start from."""
        if not isinstance(study, dict) or PROGRAM not in study:
            return study
        for key in ("servers", "workloads"):
            if key in study:
                raise mistake("a study of a [program] has no others: leave it out", key)
        tunings = study.get("tunings", {AS_IT_IS: {}})
        if isinstance(tunings, dict):
            tunings = {
                name: {"base": AS_IT_IS, **tuning} if isinstance(tuning, dict) else tuning
                for name, tuning in tunings.items()
            }
        server = ServerChoice.model_construct(family=PROGRAM)  # type: ignore[arg-type]  # no user names it
        return {"crash": {}, **study, "servers": {PROGRAM: server}, "tunings": tunings}

    def _check_whole(self) -> None:
        self._a_program_has_its_commands()
        self._a_workload_has_its_server()
        self._every_server_has_a_storage()
        self._what_is_given_is_not_started()
        self._thresholds_name_levels()
        self._parts_name_known_levels()
        if self.crash is not None:
            self.crash.check_replay(self.workloads.values())
        if self.crash and self.crash.states and self.program and self.program.sync is not None:
            raise mistake(
                "states before the `sync` of a [program] promise nothing: leave it out", "crash", "states"
            )
        self._faults_befall_disks_that_can_have_them()
        self._an_option_file_suits_its_servers()
        if self.published:
            self.published.check(self.levels)
        self._prices_are_known()
        if self.scale is not None and self.scale not in self.scales:
            known = ", ".join(self.scales) or "nothing"
            raise mistake(f"`{self.scale}` is not in [scales], which has {known}", "scale")
        self._every_server_takes_every_workload()
        self._slow_time_reaches_everything()
        self._only_innodb_has_a_redo_log_of_a_set_size()
        self._a_job_has_no_measured_phase()

    def _a_program_has_its_commands(self) -> None:
        if self.program is None:
            return
        assert self.crash is not None
        for key in sorted(OF_DATABASES & self.crash.model_fields_set):
            raise mistake("the load of a [program] is its own command: leave this out", "crash", key)
        if self.design.dilation != 1:
            raise mistake("a [program] keeps the machine's time: leave this out", "design", "dilation")
        self.program.check_tunings(self.tunings)

    @field_validator("tunings")
    @classmethod
    def _every_tuning_has_a_base(cls, tunings: dict[str, Tuning]) -> dict[str, Tuning]:
        """Levels that every family has come first, in their own order: others are compared with the first."""
        for name, tuning in tunings.items():
            if tuning.base is None and name not in (*LEVELS, AS_IT_IS):
                kept = tuning.option_file
                rest = f", for all that {kept[1].path.name} does not set" if kept else ""
                raise ValueError(
                    f"`{name}` is not one of {', '.join(LEVELS)}, so it needs `base`, one of them{rest}"
                )
        return {name: tunings[name] for name in dict.fromkeys((*LEVELS, *tunings)) if name in tunings}

    def _a_workload_has_its_server(self) -> None:
        served = [name for name, workload in self.workloads.items() if workload.needs_server]
        if not self.workloads and self.crash is None:
            raise mistake("it is missing: a study needs at least one load, or a `[crash]`", "workloads")
        if self.crash is not None:
            if not self.servers:
                raise mistake("`servers` is missing: cuts need a database; add [servers.NAME]", "crash")
            return
        if served and not self.servers:
            raise mistake(
                "this load needs a server, and `servers` is missing: add [servers.NAME]",
                "workloads",
                served[0],
            )
        if self.servers and not served:
            raise mistake("every workload here is a load on bare files: leave the servers out", "servers")
        if not served:
            self._nothing_is_asked_of_a_server()

    def _nothing_is_asked_of_a_server(self) -> None:
        """Refuse options of servers: all workloads are loads on bare files."""
        why = "every workload here is a load on bare files: leave it out"
        if "tunings" in self.model_fields_set:
            raise mistake(why, "tunings")
        self.design.leave_out(why, ("memory", "redo_log"), "design")

    def _every_server_has_a_storage(self) -> None:
        own = [name for name, server in self.servers.items() if not server.is_given]
        bare = [name for name, workload in self.workloads.items() if not workload.needs_server]
        if not self.storages and (own or bare or not self.servers):
            whose = f"server `{own[0]}`" if own else f"workload `{bare[0]}`" if bare else "a study"
            raise mistake(f"it is missing: {whose} needs one; add [storages.NAME]", "storages")
        if len(own) == len(self.servers):
            return
        if self.storages and not own and not bare:
            raise mistake("a server with a `url` has a storage of its own: leave it out", "storages")
        if THEIRS in self.storages:
            raise mistake("so is called the storage of a server with a `url`: rename it", "storages", THEIRS)
        if not own:
            self.design.leave_out(
                "it belongs to a server with a `url`: leave it out", ("memory", "redo_log"), "design"
            )

    def _what_is_given_is_not_started(self) -> None:
        for name, server in self.servers.items():
            if server.is_given and self.crash and (self.crash.servers is None or name in self.crash.servers):
                ours = any(not one.is_given for one in self.servers.values())
                instead = "name the others in `servers`" if ours else "add one with a `family`"
                raise mistake(f"a cut kills the server, and `{name}` is not ours: {instead}", "crash")
            starting = (key for key in self.tunings if self._base(key) == AS_IT_IS)
            for tuning in starting if not (server.is_given or self.program) else ():
                if self.tunings[tuning].is_for(name):
                    raise mistake(
                        f"server `{name}` is started by diskproof and needs a level: name the servers with a "
                        "`url` in `servers` of this tuning",
                        *("tunings", tuning),
                    )

    def _thresholds_name_levels(self) -> None:
        for number, claim in enumerate(self.thresholds):
            if wrong := self._why_no_threshold(claim):
                raise mistake(wrong, "thresholds", number)

    def _why_no_threshold(self, claim: Condition) -> str | None:
        factor = claim.factor
        if claim.figure == "lost" and self.crash is None:
            return "nothing is cut: `lost` needs a [crash]"
        if factor is None:
            return None
        if not self.servers and factor in ("server", "tuning", "memory"):
            return f"a load on bare files has no {factor} to compare"
        if factor == "host" and not self.levels("host"):
            return 'no machines are compared: that needs [hosts] with `how = "compare"`'
        levels = self.levels(factor)
        if claim.figure != "ratio":
            return None if claim.level in levels else f"{factor} has {', '.join(levels)}, not `{claim.level}`"
        first, *others = levels
        if claim.baseline == first and claim.level in others:
            return None
        compared = f"{factor} compares {', '.join(others) or 'nothing'} with `{first}`"
        return f"{compared}, not `{claim.level}` with `{claim.baseline}`"

    def _parts_name_known_levels(self) -> None:
        named: dict[str, Mapping[str, Part]] = {
            "workloads": self.workloads,
            "tunings": self.tunings,
            "faults": self.faults,
        }
        for key, parts in named.items():
            for name, part in parts.items():
                self._check_levels(part, key, name)
        if self.crash is None:
            return
        self._check_levels(self.crash, "crash")
        promised: dict[str, Sequence[Part]] = {
            "documented": self.crash.documented,
            "controls": self.crash.controls,
        }
        for key, promises in promised.items():
            for number, promise in enumerate(promises):
                self._check_levels(promise, "crash", key, number)
        for way, storages in self.crash.ways.items() if isinstance(self.crash.ways, dict) else ():
            self._check_known("storages", storages, "crash", "ways", way)
            for storage in storages:
                if way != "kill" and (why := self.storages[storage].why_never_cut()):
                    raise mistake(f"`{storage}`: {why}; name it under `kill`", "crash", "ways", way)

    def _check_levels(self, part: Part, *keys: str | int) -> None:
        """Refuse levels of servers, storages and so on that a part names and the study does not have."""
        for factor in (*OfLevels.model_fields, "faults"):
            self._check_known(factor, getattr(part, factor, None), *keys, factor)

    def _check_known(self, factor: str, levels: Iterable[str] | None, *keys: str | int) -> None:
        known = self.levels("storage") if factor == "storages" else list(getattr(self, factor))
        if factor == "faults":
            known = [NO_FAULT, *known]
        for level in levels or []:
            if level not in known:
                raise mistake(f"this study has {', '.join(known)}, not `{level}`", *keys)

    def _faults_befall_disks_that_can_have_them(self) -> None:
        for name, fault in self.faults.items():
            if name == NO_FAULT:
                raise mistake("so is called the level without a fault: rename it", "faults", name)
            if self.crash is None:
                raise mistake("faults come while clients commit, before a death: add [crash]", "faults", name)
            if self.program is not None and self.program.sync is not None:
                raise mistake("a [program] with a `sync` has none yet: leave it out", "faults", name)
            fault.check_crash(name, self.crash, self.storages)

    def _an_option_file_suits_its_servers(self) -> None:
        for name, tuning in self.tunings.items():
            if tuning.my_cnf and tuning.conf:
                raise mistake(
                    "`my_cnf` and `conf` are of different servers: make two tunings", "tunings", name
                )
            if tuning.option_file is None:
                continue
            key, family = "my_cnf" if tuning.my_cnf else "conf", tuning.option_file[0]
            for server, choice in self.servers.items():
                if tuning.is_for(server) and choice.family != family:
                    raise mistake(
                        f"server `{server}` reads no such file: name the others in `servers` of this tuning",
                        *("tunings", name, key),
                    )

    def _prices_are_known(self) -> None:
        for name, storage in self.storages.items():
            for device in storage.bought:
                if device not in self.prices:
                    known = ", ".join(self.prices) or "nothing"
                    raise mistake(
                        f"`{device}` is not in [prices], which has {known}", "storages", name, "bought"
                    )
        for name, card in self.prices.items():
            if card.size is None:
                raise mistake("`size` is missing: how much was bought?", "prices", name)
        if len(currencies := sorted({price.currency for price in self.prices.values()})) > 1:
            raise mistake(f"they are in {' and '.join(currencies)}: use one currency", "prices")

    def _every_server_takes_every_workload(self) -> None:
        for name, workload in self.workloads.items():
            for server, choice in self.servers.items():
                if not workload.is_for(server):
                    continue
                reason = workload.refusal(choice.family)
                if choice.is_given and (workload.own_data or getattr(workload, "source", None)):
                    reason = "data of a server are for those that diskproof starts"
                elif choice.is_given and workload.uses_database:
                    reason = "its `url` names the database: leave `database` out"
                if reason:
                    raise mistake(f"it cannot run on server `{server}`: {reason}", "workloads", name)
                if choice.read_only and (reason := workload.why_it_writes):
                    raise mistake(f"server `{server}` is `read_only`, and {reason}", "workloads", name)

    def _slow_time_reaches_everything(self) -> None:
        if self.design.dilation == 1:
            return
        places = {name: storage.places() for name, storage in self.storages.items()}
        kinds = [place.kind for of_storage in places.values() for place in of_storage.values()]
        for name, of_storage in places.items():
            for place in of_storage.values():
                if place.kind not in SLOWED:
                    raise mistake(
                        f"`{place.kind}` keeps the machine's time: with `dilation` all storages are "
                        "virtual disks or main memory",
                        *("storages", name),
                    )
        if "virtual" not in kinds and "composed" not in kinds:
            raise mistake(
                "there is no virtual disk: what is left are CPUs, which no slow time helps",
                "design",
                "dilation",
            )
        for name, server in self.servers.items():
            if server.is_given or server.image is not None:
                which = "is there already" if server.is_given else "is in a container"
                raise mistake(
                    f"server `{name}` {which}, and its clocks cannot be slowed", "design", "dilation"
                )

    def _only_innodb_has_a_redo_log_of_a_set_size(self) -> None:
        others = [
            name
            for name, choice in self.servers.items()
            if not of(choice.family).sized_redo_log and not choice.is_given
        ]
        if self.design.redo_log is not None and others:
            raise mistake(
                f"the redo log of server `{others[0]}` has no set size: leave it out, or make two studies",
                "design",
                "redo_log",
            )

    def _a_job_has_no_measured_phase(self) -> None:
        timed = [key for key in ("warm_up_s", "measure_s") if key in self.design.model_fields_set]
        if timed and self.workloads and all(workload.is_job for workload in self.workloads.values()):
            raise mistake(
                "every workload here is a job, which has no warm-up and ends by itself: leave "
                f"{' and '.join(f'`{key}`' for key in timed)} out",
                "design",
                timed[0],
            )

    def levels(self, factor: Factor) -> list[str]:
        """Return a factor's levels in the order in which the study names them."""
        given = [THEIRS] if any(server.is_given for server in self.servers.values()) else []
        return {
            "server": list(self.servers),
            "storage": [*self.storages, *given],
            "tuning": list(self.tunings),
            "workload": list(self.workloads),
            "memory": [numbers.size(memory) for memory in self.design.memory],
            "clients": list(
                dict.fromkeys(
                    str(clients)
                    for workload in self.workloads.values()
                    for clients in workload.clients or self.design.clients
                )
            ),
            "host": self.hosts.compared if self.hosts else [],
        }[factor]

    @property
    def files_to_keep(self) -> dict[str, Mapping[str, bytes]]:
        """The contents of the files that the study names, by what names them and their own names."""
        files = {name: workload.files_to_keep for name, workload in self.workloads.items()}
        if self.program is not None:
            files[PROGRAM] = {file.path.name: file.content for file in self.program.files}
        for name, tuning in self.tunings.items():
            if tuning.option_file is not None:
                _, file = tuning.option_file
                files[f"tuning-{name}"] = {file.path.name: file.content}
        return files

    def storages_of(self, server: str) -> list[str]:
        """Return the storages that a server, or a load without one, can lie on."""
        given = server in self.servers and self.servers[server].is_given
        return [THEIRS] if given else list(self.storages)

    def places(self, storage: str) -> Mapping[Role, PlaceChoice]:
        """Return the place of each role; none of a server that is there already."""
        return {} if storage not in self.storages and storage == THEIRS else self.storages[storage].places()

    def data_place(self, storage: str) -> PlaceChoice:
        """Return the place of a storage's data."""
        return self.storages[storage].places()["data"]

    def load(self, name: str) -> Load:
        """Return the load of that name: a workload, or what runs until a cut."""
        if name != CUT_LOAD or self.crash is None:
            return self.workloads[name]
        if self.program is not None:
            return self.crash.own_load
        return self.crash.workload(self.workloads.get(self.named_in_study(name)))

    def named_in_study(self, workload: str) -> str:
        """Return the workload whose files a cell's has: of a replay that is cut the study's own."""
        if workload != CUT_LOAD or self.crash is None or self.crash.load != "replay":
            return workload
        return next(name for name, own in self.workloads.items() if isinstance(own, Replay))

    def phases(self, workload: str) -> Phases:
        """Return how long a steady workload is warmed up and measured: its own times, or the design's."""
        chosen, warm_up_s, measure_s = self.load(workload), self.design.warm_up_s, self.design.measure_s
        if isinstance(chosen, Timed):
            warm_up_s = warm_up_s if chosen.warm_up_s is None else chosen.warm_up_s
            warm_up_s = 0.0 if chosen.begins_cold else warm_up_s
            measure_s = measure_s if chosen.measure_s is None else chosen.measure_s
        return Phases(warm_up_s=warm_up_s, measure_s=measure_s)

    def tuning_level(self, name: str) -> Level:
        """Return the named level that a tuning starts from; a program has none, and reads none."""
        return next((level for level in LEVELS if level == self._base(name)), LEVELS[0])

    def variables(self, tuning: str, family: Family, own: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return what a tuning asks of a server that is there already: its level and its `own` variables."""
        own = dict(self.tunings[tuning].variables_as_text() if own is None else own)
        return own if self._base(tuning) == AS_IT_IS else of(family).tuned(self.tuning_level(tuning)) | own

    def own_tuning(self, name: str) -> Message | None:
        """Return what a tuning of the study's own is; None of a level as it stands."""
        base, chosen = self._base(name), self.tunings[name]
        return None if base == name and not chosen.changes else chosen.in_short(base)

    def _base(self, tuning: str) -> str:
        return self.tunings[tuning].base or tuning
