"""Which disk meets a target for the least money."""
