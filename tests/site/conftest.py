"""Servers that show runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.serving import Serve, ServeApart, serving, serving_apart


@pytest.fixture
def serve() -> Iterator[Serve]:
    """By threads of this process: what is answered does not depend on it."""
    with serving() as begin:
        yield begin


@pytest.fixture
def serve_apart(tmp_path: Path) -> Iterator[ServeApart]:
    """By processes, as a user has it: Python's start takes longest."""
    with serving_apart(tmp_path) as begin:
        yield begin
