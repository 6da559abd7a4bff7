"""The pages of runs over HTTP, while they grow: what `diskproof serve` answers."""

import asyncio
import hmac
import ipaddress
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diskproof.history.shelf import RUN_NAME, folders, runs_in
from diskproof.refusal import RefusalError
from diskproof.report.write import html
from diskproof.results.cut import CutTrial
from diskproof.results.live import is_being_made
from diskproof.results.machine import Machine
from diskproof.results.plan import Plan
from diskproof.results.trial import Trial
from diskproof.site import pages
from diskproof.site.following import Following, Now
from diskproof.stats.distributions import special

MOST_LISTED = 100

MOST_AT_ONCE = 64

EVERY_S, MOST_WAIT_S = 1.0, 20.0
"""Between two looks for a viewer: as a rule, and at most."""

MOST_SHARE = 0.0015
"""Of a CPU, for following: what costs more, on a busy machine or with many viewers, is done less often."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
"""Of our own pages; a report's own script alone runs on its page."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",  # an address may have the token
    "Cache-Control": "no-store",
}

COOKIE = "diskproof"


class Pages:
    """What is answered to each address."""

    def __init__(self, root: Path) -> None:
        """Answer for the runs below a root."""
        self._root, self._following = root, Following(root)

    def routes(self) -> list[Route]:
        """Return the addresses."""
        run = "/run/{study}/{name}"
        return [
            Route("/", self.overview),
            Route("/newest", self.newest),
            Route(run, self.run),
            Route(f"{run}/events", self.events),
            Route("/metrics", self.metrics),
            *(Route(f"/{name}", self.asset) for name in ASSETS),
        ]

    async def overview(self, request: Request) -> Response:
        """Answer with the list of runs, or those in which some words are found."""
        find = request.query_params.get("find", "")[:100]
        every = runs_in(self._root, self._following.within)
        found = (one for one in every if one.has(find.split()))
        shown = [pages.Line(one, self._state(one.path)) for one in islice(found, MOST_LISTED)]
        has_more = next(found, None) is not None
        return _page(pages.overview(self._root, shown, has_more, find))

    def _state(self, run: Path) -> str:
        return "under way" if is_being_made(run, self._following.within) else ""

    async def newest(self, _: Request) -> Response:
        """Lead to the newest run."""
        newest = next(iter(folders(self._root.glob("*"))), None)
        return RedirectResponse(pages.address(newest) if newest else "/", 307)

    async def run(self, request: Request) -> Response:
        """Answer with a run's report, or with what it is so far."""
        path = self._path(request)
        run = self._following.now(path)
        if run.state != "under way" and run.has_report:
            policy = f"{html.policy()}; frame-ancestors 'none'"
            return _page(self._following.report(path), policy)
        return _page(pages.page(run))

    async def events(self, request: Request) -> Response:
        """Answer with the parts of a run's page as they change, until its end."""
        path = self._path(request)
        self._following.now(path)  # a run that is not there is refused
        return StreamingResponse(self._parts(path), media_type="text/event-stream")

    async def _parts(self, path: Path) -> AsyncIterator[str]:
        version, at_s = -1, 0.0
        with suppress(RefusalError):  # somebody has removed it
            while (run := self._following.now(path)).state == "under way":
                yield _event("now", pages.now(run))
                if run.version != version:
                    version = run.version
                    yield _event("made", pages.made(run))
                # What is made once, at the first look, counts for none.
                spent_s = time.thread_time() - at_s if at_s else 0.0
                at_s = time.thread_time()
                await asyncio.sleep(min(max(EVERY_S, spent_s / MOST_SHARE), MOST_WAIT_S))
        yield _event("end", "")

    async def metrics(self, _: Request) -> Response:
        """Answer with the runs under way, for Prometheus."""
        return Response(metrics(self._under_way()), media_type=METRICS_TYPE)

    def _under_way(self) -> Iterator[Now]:
        for path in islice(folders(self._root.glob("*")), MOST_LISTED):
            if self._state(path):
                with suppress(RefusalError):  # it is another version's, or was removed
                    yield self._following.now(path)

    async def asset(self, request: Request) -> Response:
        """Answer with a script or the style."""
        kind, content = ASSETS[request.url.path[1:]]
        return Response(content(), media_type=kind)

    def _path(self, request: Request) -> Path:
        study, name = str(request.path_params["study"]), str(request.path_params["name"])
        if study in (".", "..") or "\0" in study or not RUN_NAME.fullmatch(name):
            raise RefusalError("there is no such run")
        return self._root / study / name


def _page(content: str | bytes, policy: str = POLICY) -> Response:
    return Response(content, media_type="text/html", headers={"Content-Security-Policy": policy})


def _event(kind: str, content: str) -> str:
    """Return one event; a line of its data each. A viewer takes each of these for the end of a line."""
    data = "".join(f"data: {line}\n" for line in re.split(r"\r\n|\r|\n", content))
    return f"event: {kind}\n{data}\n"


SITE = "diskproof.site"

ASSETS: dict[str, tuple[str, Callable[[], str]]] = {
    "site.css": ("text/css", lambda: html.asset("page.css") + html.asset("site.css", SITE)),
    "page.js": ("text/javascript", lambda: html.asset("page.js")),
    "live.js": ("text/javascript", lambda: html.asset("live.js", SITE)),
}


async def _refused(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"{error}\n", 404)


class Guard:
    """Lets in whoever has the token; without one, who asks this machine by its own name."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        """Guard an application."""
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with the headers of all answers."""
        if scope["type"] != "http":
            return
        answer = self._answer(Request(scope)) or self._app

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_raw(HEADERS)]
            await send(message)

        sent: Callable[[Message], Awaitable[None]] = with_headers
        await answer(scope, receive, sent)

    def _answer(self, request: Request) -> Response | None:
        """Return why a request is refused, or where it is led; None: it is answered."""
        if self._token is None:
            # A page from elsewhere could give its own name this address, and read what is answered.
            return None if _is_own(request) else PlainTextResponse("ask for localhost\n", 403)
        if self._is_token(request.query_params.get("token", "")):
            led = RedirectResponse("/" + request.url.path.lstrip("/"), 303)
            led.set_cookie(COOKIE, self._token, httponly=True, samesite="lax")
            return led
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self._is_token(request.cookies.get(COOKIE, "")) or self._is_token(bearer):
            return None
        return PlainTextResponse("add ?token=… as `diskproof serve` printed it\n", 403)

    def _is_token(self, given: str) -> bool:
        return self._token is not None and hmac.compare_digest(given.encode(), self._token.encode())


def _is_own(request: Request) -> bool:
    """Return whether a request names an address, or this machine by its own name."""
    try:
        host = request.url.hostname or ""
        return host == "localhost" or bool(ipaddress.ip_address(host))
    except ValueError:
        return False


def _raw(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def _prepare() -> None:
    """Do now what is done once, rather than beside the trials that somebody watches."""
    special()
    for record in (Plan, Machine, Trial, CutTrial):
        record.model_rebuild()
    for name in ("overview", "run", "now", "made"):
        pages.templates().get_template(f"{name}.html.j2")


class QuietServer(uvicorn.Server):
    """A server that sleeps until it is asked: by itself it would look for its end ten times a second."""

    async def main_loop(self) -> None:
        """Answer requests, until a signal."""
        await asyncio.Event().wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn calls it
        """End at once: nothing is to be undone."""
        # To end viewers, the loop and Python one by one takes long for a process that gives way to others.
        os._exit(0)


def server_of(root: Path, token: str | None) -> QuietServer:
    """Return what answers for the runs below a root; without a token it must listen on loopback alone."""
    _prepare()
    routes = Pages(root).routes()
    inner = Starlette(routes=routes, exception_handlers={RefusalError: _refused})
    return QuietServer(
        uvicorn.Config(
            Guard(inner, token),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            loop="asyncio",
            server_header=False,
            date_header=False,
            limit_concurrency=MOST_AT_ONCE,
        )
    )


METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"

MEANINGS = {
    "diskproof_trials": "Trials that were made",
    "diskproof_trials_planned": "Trials of the plan so far",
    "diskproof_cuts": "Cuts that were made",
    "diskproof_cuts_planned": "Cuts of the plan",
    "diskproof_left_seconds": "Time until the end of what is planned, by what was made",
    "diskproof_throughput": "Transactions or requests a second of the trial under way, without its warm-up",
}


def metrics(runs: Iterable[Now]) -> str:
    """Return the metrics of runs."""
    samples = [sample for run in runs for sample in _samples(run)]
    lines = []
    for name, meaning in MEANINGS.items():
        lines += [f"# TYPE {name} gauge", f"# HELP {name} {meaning}."]
        lines += [f"{name}{labels} {value:.10g}" for of, labels, value in samples if of == name]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(run: Now) -> Iterator[tuple[str, str, float]]:
    of_run = {"study": run.path.parent.name, "run": run.path.name}
    for name, value in (
        ("trials", run.trials),
        ("trials_planned", len(run.plan.trials)),
        ("cuts", run.cuts),
        ("cuts_planned", run.planned_cuts),
        ("left_seconds", run.left_s),
    ):
        yield f"diskproof_{name}", _labels(of_run), value
    if run.live and run.live.course and run.live.course[-1][0] > 0:
        cells = {trial.id: trial.cell for trial in run.plan.trials}
        more = {"trial": run.live.trial, "cell": cells.get(run.live.trial, "")}
        yield "diskproof_throughput", _labels(of_run | more), run.live.course[-1][1]


def _labels(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
