"""The machine: what was started or mounted on it, what it is, what its counters say."""
