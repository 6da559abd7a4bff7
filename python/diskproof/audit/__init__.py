"""Checks of recorded trials: each a function with a name, a reason, a remedy and a source. No I/O."""
