"""A server that shows runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.serving import Serve, serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with serving(tmp_path) as begin:
        yield begin
