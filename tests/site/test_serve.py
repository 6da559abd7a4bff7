"""`diskproof serve` as a browser asks it."""

import re
import signal
import socket
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest

from diskproof.report.write import html
from diskproof.results.summary import LABEL, Summary, write_mark
from diskproof.site.serve import _event
from support.command import begin, diskproof_here
from support.runs import quickstart_run
from support.serving import EARLY, LATE, Serve, ServeApart, Served, grown, serving

HOSTILE = "<img src=x onerror=alert(1)></script><!--{{7*7}}\"'`<b>x</b>`\x1b[31m"


def test_all_runs_are_listed_with_what_they_came_to(tmp_path: Path, serve: Serve) -> None:
    root = tmp_path / "runs"
    grown(root, "mine", LATE)[0].write(Summary(question="Which?", answer="Still open."))
    (root / "other").mkdir()
    done = quickstart_run(root / "other" / EARLY)
    done.write(Summary(question="Which?", answer="The SSD is faster."))
    write_mark(done.path, LABEL, "before")
    served = serve(root)
    page = served.get()
    assert page.code == 200
    assert "under way" not in page.text  # it is let go with its folder
    first, second = re.findall(r"<tr><th scope=\"row\">.*</tr>", page.text)
    assert f"/run/mine/{LATE}" in first
    assert "2026-03-14 09:00" in second
    assert "before" in second
    assert "The SSD is faster." in second
    found = served.get("?find=ssd")
    assert f"/run/mine/{LATE}" not in found.text
    assert f"/run/other/{EARLY}" in found.text
    assert "No run here that" in served.get("?find=%3Cb%3E").text
    assert served.get("newest").headers["location"] == f"/run/mine/{LATE}"


def test_a_folder_that_is_not_there_yet_has_no_runs_until_it_is(tmp_path: Path, serve: Serve) -> None:
    served = serve(tmp_path / "runs")
    assert "No run here." in served.get().text
    folder, _ = grown(tmp_path / "runs")
    assert "under way" in served.get().text
    assert folder.path.name in served.get("newest").headers["location"]


def test_a_run_under_way_is_shown_and_followed_to_its_report(tmp_path: Path, serve: Serve) -> None:
    folder, left = grown(tmp_path / "runs")
    writer = folder.series_writer(left[0].id)
    writer.add([(float(second), "load", "transactions_per_s", 700.0 + second) for second in range(-5, 12)])
    served = serve(tmp_path / "runs")
    address = f"run/mine/{LATE}"
    page = served.get(address)
    assert "16 of 24 trials, about" in page.text
    assert "measured for 11 s of 30, 711 a second" in page.text
    assert "Throughput of the last 16 s, at most 711 a second" in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")

    with urlopen(f"{served.address}{address}/events", timeout=60) as events:
        parts = {event(events), event(events)}
        assert parts == {"now", "made"}
        writer.close()
        for trial in left:
            folder.append(trial)
        until(events, "24 of 24 trials")
        (folder.path / "report.html").write_text("<p>the report</p>")
        folder._held.close()
        until(events, "event: end")
    report = served.get(address)
    assert report.text == "<p>the report</p>"
    assert report.headers["content-security-policy"].startswith(html.policy())


def event(events: object) -> str:
    """Return the kind of the next event."""
    kind = ""
    for line in iter(events.readline, b"\n"):  # type: ignore[attr-defined]
        assert line
        kind = line.decode().removeprefix("event: ").strip() if line.startswith(b"event: ") else kind
    return kind


def until(events: object, words: str) -> None:
    for line in iter(events.readline, b""):  # type: ignore[attr-defined]
        if words.encode() in line:
            return
    raise AssertionError(f"{words} never came")


def test_a_run_that_ended_early_says_how_to_go_on(tmp_path: Path, serve: Serve) -> None:
    folder, _ = grown(tmp_path / "runs")
    folder._held.close()
    page = serve(tmp_path / "runs").get(f"run/mine/{LATE}").text
    assert "16 of 24 trials. The run ended early. Continue it with" in page
    assert "data-events" not in page


def test_metrics_are_of_the_runs_under_way(tmp_path: Path, serve: Serve) -> None:
    folder, left = grown(tmp_path / "runs", study='a"b\\c')
    quickstart_run(tmp_path / "runs" / 'a"b\\c' / EARLY)
    folder.series_writer(left[0].id).add([(2.0, "load", "transactions_per_s", 812.5)])
    answer = serve(tmp_path / "runs").get("metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.text.endswith("\n# EOF\n")
    samples = dict(re.findall(r"(?m)^(diskproof_\w+)\{.*\} (\S+)$", answer.text))
    assert samples["diskproof_trials"] == "16"
    assert samples["diskproof_trials_planned"] == "24"
    assert samples["diskproof_throughput"] == "812.5"
    assert float(samples["diskproof_left_seconds"]) > 0
    assert f'{{study="a\\"b\\\\c",run="{LATE}"' in answer.text
    assert EARLY not in answer.text
    kinds = re.findall(r"(?m)^# TYPE (\S+) gauge$", answer.text)
    assert set(samples) <= set(kinds)


def test_a_run_of_another_version_hides_no_other_metrics(tmp_path: Path, serve: Serve) -> None:
    folders = [grown(tmp_path / "runs")[0], grown(tmp_path / "runs", "other", EARLY)[0]]
    (folders[1].path / "plan.json").write_text('{"format": 99}')
    answer = serve(tmp_path / "runs").get("metrics")
    assert answer.code == 200
    assert LATE in answer.text
    assert EARLY not in answer.text


def test_no_end_of_a_line_begins_another_field_of_an_event() -> None:
    assert _event("now", "a\revent: end\r\nb\n") == (
        "event: now\ndata: a\ndata: event: end\ndata: b\ndata: \n\n"
    )


def test_words_from_outside_are_shown_and_not_obeyed(tmp_path: Path, serve: Serve) -> None:
    root = tmp_path / "runs"
    study = "<b>&"
    folder, _ = grown(root, study)
    plan = folder.plan()
    cells = [cell.model_copy(update={"storage": HOSTILE}) for cell in plan.cells]
    folder.write(plan.model_copy(update={"question": HOSTILE, "cells": cells, "resume": HOSTILE}))
    folder.write(Summary(question=HOSTILE, answer=HOSTILE))
    write_mark(folder.path, LABEL, HOSTILE)
    served = serve(root)
    pages = [served.get(), served.get(f"run/%3Cb%3E%26/{LATE}")]
    folder._held.close()
    for page in (*pages, served.get(f"run/%3Cb%3E%26/{LATE}")):
        assert page.code == 200
        assert "&lt;img src=x" in page.text
        assert "<img" not in page.text
        assert "</script><!--" not in page.text
        assert "\x1b" not in page.text


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a run under way; another one is reached by a link."""
    folder = tmp_path_factory.mktemp("others")
    (folder / "outside").mkdir()
    quickstart_run(folder / "outside" / EARLY)
    run, _ = grown(folder / "runs")
    (folder / "runs" / "linked").symlink_to(folder / "outside")
    with serving() as serve:
        yield serve(folder / "runs")
    run.release()


@pytest.mark.parametrize(
    "path",
    [
        "run/mine/nothing",
        f"run/other/{EARLY}",
        f"run/../{EARLY}",
        f"run/%2e%2e/{EARLY}",
        f"run/%2e%2e%2f%2e%2e/{EARLY}",
        f"run/%00/{EARLY}",
        f"run/mine/{EARLY}/../../../etc/passwd",
        f"run/mine/{EARLY}%00",
        f"run/linked/{EARLY}",
        f"run/{'x' * 300}/{EARLY}",
        f"run/mine/{EARLY}/events/more",
        "templates/site.css",
        "etc/passwd",
    ],
)
def test_what_is_no_run_is_not_found(others: Served, path: str) -> None:
    answer = others.get(path)
    assert answer.code == 404, answer.text
    assert "Traceback" not in answer.text
    assert others.get().code == 200


def test_hostile_folders_are_left_out_of_the_list(tmp_path: Path, serve: Serve) -> None:
    root, secret = tmp_path / "runs", tmp_path / "secret"
    secret.write_text("do not show")
    for study, name in (("label", "label"), ("answer", "answer.json")):
        (root / study).mkdir(parents=True)
        folder = quickstart_run(root / study / EARLY)
        (folder.path / name).symlink_to(secret)
    folder, _ = grown(root)
    (root / "loop").mkdir()
    (root / "loop" / EARLY).symlink_to(root)
    page = serve(root).get()
    assert page.code == 200
    assert "do not show" not in page.text
    assert f"/run/mine/{LATE}" in page.text
    assert "/run/label/" not in page.text
    del folder


def test_another_name_of_this_machine_is_refused(tmp_path: Path, serve: Serve) -> None:
    """A page from elsewhere that gives its own name this address (DNS rebinding) reads nothing."""
    served = serve(tmp_path)
    assert served.get(Host="evil.example:8040").code == 403
    assert served.get(Host="localhost:1").code == 200


def test_other_machines_need_the_token(tmp_path: Path, serve_apart: ServeApart) -> None:
    grown(tmp_path / "runs")
    served = serve_apart(tmp_path / "runs", "--address", "0.0.0.0")
    token = served.address.partition("?token=")[2]
    assert len(token) >= 32
    served.address = served.address.replace("0.0.0.0", "127.0.0.1")
    for path in ("", "metrics", f"run/mine/{LATE}", f"run/mine/{LATE}/events", "live.js"):
        assert served.get(path).code == 403, path
    assert served.get("?token=wrong").code == 403
    assert served.get("?token=%FF").code == 403
    led = served.get(f"newest?token={token}")
    assert (led.code, led.headers["location"]) == (303, "/newest")
    cookie = led.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert served.get(Cookie=cookie.partition(";")[0]).code == 200
    assert served.get("metrics", Authorization=f"Bearer {token}").code == 200


def test_only_reading_is_possible(tmp_path: Path, serve: Serve) -> None:
    served = serve(tmp_path)
    host, port = served.address.removeprefix("http://").rstrip("/").split(":")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(
                f"{method} / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n".encode()
            )
            assert b" 405 " in connection.recv(100), method


@pytest.mark.parametrize("looks", [1, 2])
def test_ctrl_c_ends_it_in_good_order_also_with_a_viewer(
    tmp_path: Path, serve_apart: ServeApart, looks: int
) -> None:
    """After two looks the server sleeps for up to 20 s."""
    grown_folder, _ = grown(tmp_path / "runs")
    served = serve_apart(tmp_path / "runs")
    with urlopen(f"{served.address}run/mine/{LATE}/events", timeout=60) as events:
        for _ in range(looks):
            until(events, "event: now")
        served.process.send_signal(signal.SIGINT)
        _, complaints = served.process.communicate(timeout=40)
    assert served.process.returncode == 0
    assert "Traceback" not in complaints
    del grown_folder


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--address", "example.org"], "is an IP address of this machine, not `example.org`"),
        (["--address", "192.0.2.7"], "does not have 192.0.2.7"),
        (["--port", "70000"], "from 0 to 65535"),
        (["--port", "-1"], "from 0 to 65535"),
    ],
)
def test_addresses_that_cannot_be_are_refused(tmp_path: Path, words: list[str], said: str) -> None:
    result = diskproof_here(tmp_path, "serve", *words)
    assert result.returncode == 2
    assert said in result.stderr


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = diskproof_here(tmp_path, "serve", "--port", str(port))
    assert result.returncode == 2
    assert f"port {port} of 127.0.0.1 is taken: --port 0 takes a free one" in result.stderr


STUDY = """
question = "How fast is main memory?"
[design]
blocks = 3
warm_up_s = 0
measure_s = 1
clients = [1]
repeat_disturbed = false
[servers.sqlite]
family = "sqlite"
[storages.memory]
ram = "512 MiB"
[tunings.fast]
[workloads.load]
mix = "update-non-index"
tables = 1
rows = 200
"""


def test_a_run_is_watched_while_it_grows(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    process = begin(tmp_path, "run", "study.toml", "--watch")
    assert process.stderr
    line = next(line for line in process.stderr if "the run as it grows: " in line)
    address = line.rpartition(" ")[2].strip()
    said = set()
    while process.poll() is None:
        try:
            with urlopen(address, timeout=20) as answer:
                said |= set(re.findall(r"[0-3] of 3 trials|a second", answer.read().decode()))
        except (OSError, HTTPException):
            break  # it ended with the run
        time.sleep(0.1)
    _, complaints = process.communicate()
    assert process.returncode in (0, 12), complaints
    assert {"1 of 3 trials", "a second"} <= said
    with pytest.raises(OSError, match="refused"):
        urlopen(address, timeout=20)
