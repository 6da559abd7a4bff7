"""Pure functions of numbers; each names its method's source. No I/O, no records of runs."""
