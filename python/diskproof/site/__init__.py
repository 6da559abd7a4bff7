"""Pages of many runs: served while runs grow, or published with an audit of each."""
