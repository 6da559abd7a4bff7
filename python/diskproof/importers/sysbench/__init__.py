"""sysbench 0.4, 0.5, 1.0 and 1.1: its output taken apart, and made into results of OLTP and of files."""
