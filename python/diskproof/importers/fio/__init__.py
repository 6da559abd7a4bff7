"""fio: its JSON and its output for people, made into results; what both share stands in `figures.py`."""
