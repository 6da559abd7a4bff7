"""diskproof: how fast, how safe and how expensive a database is on the storage under it."""


def __getattr__(name: str) -> str:
    """Return `__version__`: to find it takes longest of a start, which signals may end by then."""
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("diskproof")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
