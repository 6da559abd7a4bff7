"""The script of the libraries that draw: laid down by the build, and made where it was not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.report import vega


@pytest.fixture(autouse=True)
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(vega, "TEMPLATES", tmp_path)
    vega.script.cache_clear()
    yield tmp_path
    vega.script.cache_clear()


def test_what_the_build_lays_down_is_what_a_page_would_make_itself(templates: Path) -> None:
    (templates / "vega-0.9.js").write_text("an older release's")
    (templates / "vega-0.9.partial").write_text("half of it: a build that was interrupted")
    made = vega.script()
    assert "vegaEmbed" in made
    vega.lay_down()
    assert list(templates.iterdir()) == [vega.laid_down()]
    assert vega.laid_down().read_text(encoding="utf-8") == made


def test_a_page_takes_what_lies_there(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bundled() -> str:
        pytest.fail("it took its time again")

    monkeypatch.setattr(vega, "_bundled", bundled)
    (templates / vega.laid_down().name).write_text("window.vegaEmbed")
    assert vega.script() == "window.vegaEmbed"
