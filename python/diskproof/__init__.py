"""diskproof: how fast, how safe and how expensive a database is on the storage under it."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("diskproof")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"
