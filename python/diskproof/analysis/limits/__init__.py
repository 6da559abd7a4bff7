"""The limit of each cell: the parts of a transaction's time, its bounds, and what a change would do."""
