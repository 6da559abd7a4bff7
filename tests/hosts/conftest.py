"""The machines of the tests here."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from machines import Host, machines, why_no_machines


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Host]]:
    """Three machines; none is in a cluster yet."""
    if why := why_no_machines():
        pytest.skip(why)
    scratch = Path(tempfile.mkdtemp(prefix="dp"))
    try:
        with machines("abc", scratch) as made:
            yield made
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
