"""fio: its JSON and its terse lines, made into results; what both share stands in `figures.py`."""
