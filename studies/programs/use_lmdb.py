"""Puts a key a transaction into LMDB, and lists the keys that are there."""

import sys

import lmdb

verb, directory, sync = sys.argv[1:]
store = lmdb.open(directory, map_size=2**28, sync=sync != "nothing", metasync=sync == "all")
if verb == "load":
    for number in range(1, 10_000_000):
        print("begin", number, flush=True)
        with store.begin(write=True) as transaction:
            transaction.put(str(number).encode(), b"x" * 100)
        print("ack", number, flush=True)
with store.begin() as transaction:
    for key, value in transaction.cursor():
        if value != b"x" * 100:
            sys.exit(f"{key!r} has another value")
        print(key.decode())
