"""A sound trial of a load on bare files, as fio makes it on a disk."""

from typing import Any

from diskproof.results.load import ClientAccount, FileRequests, LoadResult, StatementType
from diskproof.results.plan import NO_LEVEL, Cell, Plan
from diskproof.results.trial import DataFacts, OpenFile, Trial
from diskproof.results.usage import DeviceUsage, Usage
from support.trials import DISK_DEVICE, MIB, change, make_latency, make_machine, make_places, make_plan

BASE = make_plan(storages=("disk",), tunings=("safest",), clients=(4,), blocks=5, measure_s=30.0)
CELL = Cell(
    id="disk/rndrw/4c",
    server=NO_LEVEL,
    storage="disk",
    tuning=NO_LEVEL,
    workload="rndrw",
    memory_bytes=0,
    clients=4,
)
PLAN: Plan = BASE.model_copy(
    update={
        "cells": [CELL],
        "metrics": {"rndrw": "requests_per_s"},
        "trials": [one.model_copy(update={"cell": CELL.id}) for one in BASE.trials],
    }
)
MACHINE = make_machine(BASE)
REQUESTS, SYNCS, SECONDS = 12_000, 1_000, 30.0
BLOCK = 16384


def made_load(**changes: Any) -> LoadResult:
    """Return what four threads did in 30 s: 12,000 requests of 8 ms, and 1,000 syncs of 24 ms."""
    kinds = (
        ("read", "read", 7_200, 8_000.0),
        ("write", "write", 4_800, 8_000.0),
        ("sync", "other", 1_000, 24_000.0),
    )
    load = LoadResult(
        workload="fileio",
        mix="rndrw",
        clients=4,
        seconds=SECONDS,
        transactions=REQUESTS,
        transactions_per_s=REQUESTS / SECONDS,
        statements=REQUESTS + SYNCS,
        reads=7_200,
        writes=4_800,
        others=SYNCS,
        latency_us=make_latency(8_000.0, REQUESTS, 0.1),
        statement_types=[
            StatementType.model_validate(
                {
                    "name": name,
                    "kind": kind,
                    "count": count,
                    "rows": 0,
                    "affected": 0,
                    "errors": 0,
                    "latency_us": make_latency(mean_us, count, 0.1),
                }
            )
            for name, kind, count, mean_us in kinds
        ],
        errors=[],
        failed_transactions=0,
        retries=0,
        reconnects=0,
        client=ClientAccount(
            workers=4,
            cpu_user_s=0.2,
            cpu_system_s=0.8,
            max_rss_bytes=None,
            delay_mean_us=None,
            delay_max_us=None,
        ),
        file_requests=FileRequests(
            files=16,
            block_bytes=BLOCK,
            direct=True,
            one_pass=False,
            read_bytes=7_200 * BLOCK,
            written_bytes=4_800 * BLOCK,
            syncs=SYNCS,
        ),
    )
    return change(load, **changes)


def made_trial(load: LoadResult | None = None, **changes: Any) -> Trial:
    disk = DeviceUsage(
        reads=7_200,
        read_bytes=7_200 * BLOCK,
        writes=5_000,
        written_bytes=4_900 * BLOCK,
        flushes=900,
        busy_s=29.0,
    )
    trial = Trial(
        id=PLAN.trials[0].id,
        cell=CELL.id,
        block=1,
        position=1,
        started_at="2026-03-14T09:00:00Z",
        finished=True,
        load=load or made_load(),
        usage=Usage(seconds=30.5, host_cpu_busy_s=2.0, host_cpu_steal_s=0.0, devices={"vda": disk}),
        places=make_places("disk"),
        data=DataFacts(data_bytes=64 * MIB, restored_by="snapshot"),
        open_files=[
            OpenFile(path="/srv/disk/data/f0", role="data", device_number=DISK_DEVICE, as_declared=True)
        ],
    )
    return change(trial, **changes)
