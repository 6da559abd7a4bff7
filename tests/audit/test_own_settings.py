"""The settings that diskproof makes pass its checks."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from diskproof.audit.check import Configuration
from diskproof.audit.registry import CONFIGURATION_CHECKS
from diskproof.families.facts import Level
from diskproof.families.postgresql import POSTGRESQL
from diskproof.results.imported import Settings
from diskproof.server.mysql import MysqlServer
from diskproof.server.mysql import options as mysql
from diskproof.server.mysql.installation import Installation
from support.cases.configurations import GIB
from support.samples import found_in
from support.servers import make_dirs

LEVELS: tuple[Level, ...] = ("safest", "fast", "unsafe")


COMMON = (
    "datadir socket innodb_buffer_pool_size innodb_log_buffer_size innodb_flush_method innodb_fast_shutdown "
    "innodb_file_per_table max_connections innodb_log_group_home_dir tmpdir server_id log_error"
)


SERVERS: dict[str, tuple[str, tuple[int, int, int], str]] = {
    "MySQL 5.1.73": ("MySQL", (5, 1, 73), "innodb_log_file_size innodb_log_files_in_group query_cache_size"),
    "Percona Server 5.7.27-30": (
        "Percona Server",
        (5, 7, 27),
        "innodb_log_file_size innodb_log_files_in_group innodb_buffer_pool_instances query_cache_type "
        "innodb_buffer_pool_chunk_size innodb_temp_data_file_path",
    ),
    "MySQL 8.4.3": (
        "MySQL",
        (8, 4, 3),
        "innodb_redo_log_capacity innodb_buffer_pool_instances innodb_buffer_pool_chunk_size",
    ),
    "10.11.19-MariaDB": ("MariaDB", (10, 11, 19), "innodb_log_file_size aria_log_dir_path query_cache_size"),
}


@pytest.mark.parametrize("memory_bytes", [200 * 2**20, 2 * GIB])
@pytest.mark.parametrize("server", SERVERS)
def test_the_configurations_that_diskproof_makes_pass(server: str, memory_bytes: int, tmp_path: Path) -> None:
    flavour, version, known = SERVERS[server]
    installed = Installation(
        flavour, version, "x", Path("/x/bin/mysqld"), None, dict.fromkeys(f"{COMMON} {known}".split(), "")
    )
    dirs = make_dirs(tmp_path)
    made = {
        level: MysqlServer(installed, "x").settings(
            dirs, level=level, memory_bytes=memory_bytes, max_clients=8, variables={}
        )
        for level in LEVELS
    }
    texts = {
        level: mysql.configuration(installed, dirs, one.common | one.level) for level, one in made.items()
    }
    _all_pass(texts, server)


def test_the_levels_of_postgresql_pass() -> None:
    texts = {
        level: "shared_buffers = 128MB\n"
        + "".join(f"{name} = {value}\n" for name, value in POSTGRESQL.tuned(level).items())
        for level in LEVELS
    }
    _all_pass(texts, "PostgreSQL 15.18")


NOT_KEPT = ["unflushed-doublewrite"]
"""What the safest level of MySQL from 8.0.20 on does not keep: the one finding that our levels deserve."""


def _all_pass(texts: Mapping[Level, str], server: str) -> None:
    read = {}
    for level, text in texts.items():
        (found,) = found_in(text)
        assert isinstance(found, Settings)
        read[level] = Configuration(found, level=level, server=server)
    for level, configuration in read.items():
        outcomes = [one.outcome(configuration) for one in CONFIGURATION_CHECKS]
        failed = [one.check for one in outcomes if one.state == "failed"]
        assert failed == (NOT_KEPT if server.startswith("MySQL 8") and level == "safest" else [])
        assert [one.check for one in outcomes if one.state == "cannot be told"] == ["took-effect"]
