"""A profile as files: its record, the page, and the pictures."""

from collections.abc import Iterator
from pathlib import Path

from diskproof.refusal import RefusalError, why_not_written
from diskproof.report.charts import png, svg
from diskproof.report.profile import page
from diskproof.report.profile.charts import drawings
from diskproof.results.profile import Profile, write_profile


def check_writable(record: Path | None, folder: Path | None) -> None:
    """Refuse, before anything is measured, a file or folder that could not be written afterwards."""
    if record and not record.absolute().parent.is_dir():
        raise RefusalError(f"there is no folder {record.absolute().parent} for {record.name}; make it first")
    if record and record.is_dir():
        raise RefusalError(f"{record} is a folder; name a file")
    try:
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        for path in ([record] if record else []) + ([folder / "profile.json"] if folder else []):
            is_new = not path.exists()
            path.open("ab").close()
            if is_new:
                path.unlink()
    except OSError as error:
        raise RefusalError(why_not_written(folder or record or Path(), error)) from None


def write_all(folder: Path, profile: Profile) -> Iterator[Path]:
    """Write profile.json, profile.html and each picture as PNG and SVG; yield their paths."""
    record = folder / "profile.json"
    write_profile(record, profile)
    yield record
    paper = folder / "profile.html"
    paper.write_text(page.render(profile), encoding="utf-8")
    yield paper
    for drawing in drawings(profile, legend=True):
        picture = folder / f"{drawing.figure.name}.png"
        picture.write_bytes(png(drawing.figure))
        picture.with_suffix(".svg").write_text(svg(drawing.figure), encoding="utf-8")
        yield picture
