"""Inserts a row a transaction with Python's own SQLite, and lists the rows that are there."""

import sqlite3
import sys

verb, directory, synchronous = sys.argv[1:]
database = sqlite3.connect(f"{directory}/database", isolation_level=None)
database.execute("PRAGMA journal_mode = wal")
database.execute(f"PRAGMA synchronous = {synchronous}")
database.execute("CREATE TABLE IF NOT EXISTS promised (number INTEGER PRIMARY KEY)")
if verb == "load":
    for number in range(1, 10_000_000):
        print("begin", number, flush=True)
        database.execute("INSERT INTO promised VALUES (?)", (number,))
        print("ack", number, flush=True)
for (number,) in database.execute("SELECT number FROM promised"):
    print(number)
if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
    sys.exit("integrity_check finds damage")
