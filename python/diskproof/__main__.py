"""``python -m diskproof``: the command line."""

from diskproof.cli import main

main()
