"""The machines of the tests here."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.hosts import BRIDGE, NET, Host, why_no_hosts


def sh(command: str) -> None:
    subprocess.run(command, shell=True, check=True)


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[Host]]:
    """Three machines that reach each other; none is in a cluster yet."""
    if why := why_no_hosts():
        pytest.skip(why)
    scratch = Path(tempfile.mkdtemp(prefix="dp"))
    made: list[Host] = []
    sh(f"ip link add {BRIDGE} type bridge && ip link set {BRIDGE} up")
    try:
        for number, name in enumerate("abc", start=1):
            space = f"{BRIDGE}-{number}"
            sh(
                f"ip netns add {space} && ip link add {space} type veth peer name eth0 netns {space}"
                f" && ip link set {space} master {BRIDGE} up"
                f" && ip -n {space} addr add {NET}.{number}/24 dev eth0"
                f" && ip -n {space} link set eth0 up && ip -n {space} link set lo up"
            )
            # A copy of another test's mount would keep its disk in use after that test has unmounted it.
            others = 'awk \'$1 ~ "^/dev/loop" || $3 ~ "^fuse" {print $2}\' /proc/self/mounts'
            inside = f"{others} | sort -r | xargs -r umount -l; "
            inside += "mount -t tmpfs -o size=1g tmpfs /dev/shm && echo up && exec sleep 3600"
            holder = subprocess.Popen(
                ["ip", "netns", "exec", space, "unshare", "-m", "sh", "-c", inside], stdout=subprocess.PIPE
            )
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"up\n"
            host = Host(name, number, scratch, holder)
            host.state.mkdir()
            made.append(host)
        yield made
    finally:
        leaving = [host.start("host", "leave") for host in made]
        for host, process in zip(made, leaving, strict=True):
            with suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=30)
            host.holder.kill()
            host.holder.wait()
        for number in range(1, 4):
            subprocess.run(["ip", "netns", "del", f"{BRIDGE}-{number}"], check=False, capture_output=True)
        time.sleep(0.1)
        subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)
        shutil.rmtree(scratch, ignore_errors=True)
