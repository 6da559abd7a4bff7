"""The machines of the tests here."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from machines import Host, leave, machines, make_cluster, why_no_machines


@pytest.fixture(scope="session")
def hosts() -> Iterator[list[Host]]:
    """Three machines; another test may have made a cluster of them."""
    if why := why_no_machines():
        pytest.skip(why)
    scratch = Path(tempfile.mkdtemp(prefix="dp"))
    scratch.chmod(0o711)  # PostgreSQL's own user must pass
    try:
        with machines("abc", scratch) as made:
            yield made
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@pytest.fixture
def cluster(hosts: list[Host]) -> list[Host]:
    """Three hosts in a cluster."""
    if not all(host.is_member for host in hosts):
        leave(hosts)
        make_cluster(hosts)
    return hosts
