"""A profile as files: its record, the page, and the pictures."""

from collections.abc import Iterator
from pathlib import Path

from diskproof.report.compose.profile import compose
from diskproof.results.profile import Profile, write_profile


def page(profile: Profile) -> str:
    """Return the page of a profile."""
    from diskproof.report.charts.profile import drawings  # noqa: PLC0415 - drawing takes long to load
    from diskproof.report.write import html  # noqa: PLC0415

    return html.write(compose(profile, drawings(profile)))


def write_all(folder: Path, profile: Profile) -> Iterator[Path]:
    """Write profile.json, profile.html and each picture as PNG and SVG; yield their paths."""
    from diskproof.report.charts.profile import drawings  # noqa: PLC0415
    from diskproof.report.charts.still import png, svg  # noqa: PLC0415 - drawing takes long to load

    record = folder / "profile.json"
    write_profile(record, profile)
    yield record
    paper = folder / "profile.html"
    paper.write_text(page(profile), encoding="utf-8")
    yield paper
    for figure in drawings(profile):
        picture = folder / f"{figure.name}.png"
        picture.write_bytes(png(figure))
        picture.with_suffix(".svg").write_text(svg(figure), encoding="utf-8")
        yield picture
