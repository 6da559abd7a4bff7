"""The studies that come with diskproof, by name."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "studies"


def shipped() -> dict[str, Path]:
    """Return the files by what to call them: the path below the folder, without its end."""
    return {str(path.relative_to(FOLDER).with_suffix("")): path for path in sorted(FOLDER.rglob("*.toml"))}
