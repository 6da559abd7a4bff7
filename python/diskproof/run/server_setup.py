"""What a server gets before it starts, its data and its settings, and the start itself."""

from diskproof.results.plan import Cell
from diskproof.results.record import Role
from diskproof.results.trial import RestoredBy
from diskproof.run.bench import Bench
from diskproof.run.dataset import KEPT_ROLES, GoldenImage
from diskproof.run.option_files import server_variables
from diskproof.server.base import Dirs, Running, ServerKind, Settings
from diskproof.storage.copy import copy_tree, settle
from diskproof.storage.layout import Layout
from diskproof.system.own_folder import OwnFolder, through

START_S = 60.0
"""How long a server may take to start."""


def data_set_name(server: str, image: GoldenImage) -> str:
    """Return the name of a server's data set among all that a layout holds."""
    return f"{server}-{image.folder.name}"


def restore_data(layout: Layout, kind: ServerKind, image: GoldenImage, dirs: Dirs, server: str) -> RestoredBy:
    """Put the loaded database into the roles' directories, with nothing of it in the page cache."""

    def copy(roles: set[Role]) -> RestoredBy:
        how: RestoredBy = "copy"
        with OwnFolder(image.folder).held() as held:
            for role in KEPT_ROLES:
                if role in roles:
                    done = copy_tree(through(held) / role, dirs.of(role))
                    how = done if role == "data" else how
        kind.place(dirs)
        settle([dirs.of(role) for role in KEPT_ROLES])
        return how

    return layout.restore(data_set_name(server, image), copy)


def settings_of(bench: Bench, cell: Cell, dirs: Dirs) -> Settings:
    """Return the variables of a cell's server; ServerError if it cannot have them."""
    study = bench.study
    server = bench.servers[cell.server]
    return server.settings(
        dirs,
        level=study.tuning_level(cell.tuning),
        memory_bytes=cell.memory_bytes,
        max_clients=cell.clients,
        variables=server_variables(study, cell.tuning, server).variables,
        redo_bytes=study.design.redo_log,
    )


def start_in_own_time(
    bench: Bench, kind: ServerKind, cell: Cell, dirs: Dirs, settings: Settings, limit_s: float = START_S
) -> Running:
    """Start a server for a cell, in the trials' time and with its share of the CPUs, within `limit_s`."""
    own_time = bench.time
    starter = bench.starter.with_variables(own_time.environment(bench.clock))
    running = kind.start(dirs, settings, starter, deadline_s=own_time.real_s(limit_s))
    bench.hold(running.pids)
    running.database = bench.study.load(cell.workload).uses_database or running.database
    return running
