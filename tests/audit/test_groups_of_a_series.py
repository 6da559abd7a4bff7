"""Groups of an option file that servers of one series read alone: ``[mysqld-8.0]``."""

from collections.abc import Mapping

import pytest

from diskproof.analysis.audited.audit import audit_configuration
from diskproof.audit.check import Configuration
from diskproof.audit.configuration import with_its_series
from diskproof.results.imported import Settings
from support.samples import found_in

FILE = """[mysqld-8.0]
innodb_log_file_size = 1G
query_cache_size = 64M
[mysqld]
innodb_log_file_size = 256M
sync_binlog = 1
[mysqld-5.7]
query_cache_size = 16M
[mariadb-10.6]
sync_binlog = 0
"""


def read(server: str | None, content: str = FILE) -> Configuration:
    (settings,) = found_in(content)
    assert isinstance(settings, Settings)
    return Configuration(settings, server=server)


def states(configuration: Configuration) -> dict[str, str]:
    return {one.check: one.state for one in audit_configuration(configuration).checks}


@pytest.mark.parametrize(
    ("server", "values"),
    [
        # The last line of the file holds, whichever group it stands in.
        (
            "MySQL 8.0.36",
            {"innodb_log_file_size": "256M", "sync_binlog": "1", "query_cache_size": "64M"},
        ),
        (
            "MySQL 5.7.30",
            {"innodb_log_file_size": "256M", "sync_binlog": "1", "query_cache_size": "16M"},
        ),
        ("MariaDB 10.6.4", {"innodb_log_file_size": "256M", "sync_binlog": "0"}),
        ("MariaDB 10.11.2", {"innodb_log_file_size": "256M", "sync_binlog": "1"}),
    ],
)
def test_a_server_reads_the_groups_of_its_own_series(server: str, values: Mapping[str, str]) -> None:
    assert with_its_series(read(server)).settings.values == values


def test_what_only_another_series_reads_is_not_judged() -> None:
    """The query cache is gone in 8.0: a group for 5.7 alone does no harm there."""
    both = FILE.replace("query_cache_size = 64M\n", "")
    assert states(read("MySQL 8.0.36"))["unknown-option"] == "failed"
    assert states(read("MySQL 8.0.36", both))["unknown-option"] == "passed"


def test_what_stands_in_two_groups_that_are_read_is_set_twice() -> None:
    assert states(read("MySQL 8.0.36"))["repeated-option"] == "failed"
    assert states(read("MySQL 5.7.30"))["repeated-option"] == "passed"


@pytest.mark.parametrize(
    "check", ["unknown-option", "deprecated-option", "repeated-option", "idle-option", "mixed-durability"]
)
def test_without_a_version_nobody_knows_which_groups_are_read(check: str) -> None:
    assert states(read(None))[check] == "cannot be told"


def test_without_a_version_no_option_is_known_to_be_there() -> None:
    """An option of which no fact is kept may be unknown to the server all the same."""
    assert states(read(None, "[mysqld]\nmax_connections = 10\n"))["unknown-option"] == "cannot be told"
    told = read("MySQL 8.0.36", "[mysqld]\nmax_connections = 10\n")
    assert states(told)["unknown-option"] == "passed"
