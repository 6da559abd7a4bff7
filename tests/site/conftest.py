"""A server that shows runs, and a browser that looks at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from support.browser import chromium
from support.serving import Serve, serving


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with serving(tmp_path) as begin:
        yield begin


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started
