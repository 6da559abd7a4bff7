"""Sets one key after the other, over Redis' own protocol, and lists the keys that are there."""

import socket
import sys
import time

verb, path = sys.argv[1:]


def connect() -> socket.socket:
    while True:  # until the server answers; diskproof limits the time
        try:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.sendall(b"PING\r\n")
            if connection.recv(64).startswith(b"+PONG"):
                return connection
        except OSError:
            pass
        time.sleep(0.05)


connection = connect()
if verb == "load":
    for number in range(1, 10_000_000):
        print("begin", number, flush=True)
        connection.sendall(f"SET {number} x\r\n".encode())
        if connection.recv(64) != b"+OK\r\n":
            sys.exit("the server did not answer OK")
        print("ack", number, flush=True)
elif verb == "check":
    connection.sendall(b"KEYS *\r\n")
    lines = connection.makefile("rb")
    for _ in range(int(lines.readline()[1:])):
        print(lines.read(int(lines.readline()[1:]) + 2).decode().strip())
