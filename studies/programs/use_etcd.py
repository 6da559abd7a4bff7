"""Puts one key after the other into etcd by its JSON gateway, and lists the keys that are there."""

import base64
import json
import sys
import time
from http.client import HTTPConnection, HTTPException

verb, port = sys.argv[1:]
connection = HTTPConnection("127.0.0.1", int(port))


def ask(what: str, **fields: object) -> dict:
    connection.request("POST", f"/v3/kv/{what}", json.dumps(fields))
    answer = connection.getresponse()
    if answer.status != 200:
        raise OSError(answer.read())
    return json.load(answer)


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def listed() -> list[str]:
    found = ask("range", key=coded("\0"), range_end=coded("\0"), keys_only=True)
    return [base64.b64decode(one["key"]).decode() for one in found.get("kvs", [])]


while True:  # until a member leads; diskproof limits the time
    try:
        names = listed()
        break
    except (OSError, HTTPException):
        connection.close()
        time.sleep(0.05)
if verb == "load":
    for number in range(1, 10_000_000):
        print("begin", number, flush=True)
        ask("put", key=coded(str(number)), value=coded("x"))
        print("ack", number, flush=True)
elif verb == "check":
    print(*names, sep="\n", end="\n" if names else "")
