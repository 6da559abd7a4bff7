"""What the storages of a run, and the speed of its cells, cost to buy."""
