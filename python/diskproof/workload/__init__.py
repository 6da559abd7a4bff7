"""What the database is asked to do: arguments of diskproof-load, or jobs of fio."""
