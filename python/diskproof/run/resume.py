"""Resuming a run that was broken off: which folder it is, and whether the machine is still the same."""

from pathlib import Path

from diskproof.history.shelf import folders
from diskproof.results.folder import RunFolder, RunFolderError
from diskproof.results.machine import Machine, differences
from diskproof.results.plan import Plan
from diskproof.results.trial import Dumped
from diskproof.study.read import StudyError, StudyFile


def folder_to_resume(out: Path, file: StudyFile, plan: Plan) -> RunFolder:
    """Return the newest run of this study and plan; runs at other scales lie in the same folder.

    A campaign of cuts may be continued beyond its end: its plan is then the beginning of `plan`.
    RunFolderError if there is no run at all, StudyError if none has these cells.
    """
    root = out / file.name
    runs = folders([root])
    if not runs:
        raise RunFolderError(f"there is no run under {root} to resume; start one without --resume")
    differences = []
    for path in runs:
        folder = RunFolder.open(path)
        difference = _difference(folder, file, plan)
        if difference is None:
            return folder
        differences.append(difference)
    raise StudyError(
        f"no earlier run under {root} has the same cells as this study {_size(plan)}: the newest, "
        f"{runs[0].name}, {differences[0]}; start a new run without --resume"
    )


def _difference(folder: RunFolder, file: StudyFile, plan: Plan) -> str | None:
    """Return how a run differs from the one to resume; None if it is the same."""
    try:
        text, planned = folder.study_text(), folder.plan()
    except (OSError, RunFolderError) as error:  # another version's record, or a damaged one
        return f"cannot be resumed: {error}"
    if text != file.text or planned.scripts != plan.scripts:
        return "was made from another version of this study"
    if _size(planned) != _size(plan):
        return f"is {_size(planned)}"
    planned = _as_begun(planned, plan)
    if planned == plan or _is_beginning(planned, plan):
        return None
    if _is_beginning(plan, planned):
        cuts = planned.crash.cuts if planned.crash else 0
        return f"plans {cuts} cuts of each cell: resume it with `--cuts {cuts}` or more"
    return "has other cells"


def resumed_plan(planned: Plan, plan: Plan) -> Plan:
    """Return the plan with which a recorded one goes on: today's time and cuts, and the blocks of then.

    A run that went on until it was decided stays such a run: after its looks, fixed intervals would be wrong.
    """
    kept = {"trials": planned.trials, "at_most_s": plan.at_most_s or planned.at_most_s}
    return plan.model_copy(update={**kept, **{name: getattr(planned, name) for name in SLOWER}})


SLOWER = ("dilation", "cpus_count")
"""What may follow from a measurement of the machine."""


def _as_begun(planned: Plan, plan: Plan) -> Plan:
    """Return a recorded plan as it began: without added blocks, and with today's time."""
    first = {
        "trials": planned.trials[: len(plan.trials)],
        "at_most_s": plan.at_most_s,
        "resume": plan.resume,
        "estimated_s": plan.estimated_s,
        **{name: getattr(plan, name) for name in SLOWER},
    }
    return planned.model_copy(update=first)


def _is_beginning(first: Plan, whole: Plan) -> bool:
    """Return whether two plans differ only in the number of cuts, and one begins as the other does.

    Each block of cuts is drawn by itself, one after another, so further blocks change none before them.
    """
    if first.crash is None or whole.crash is None:
        return False
    counted = ("cuts", "at_once", "trials", "estimated_s", "estimated_bytes")
    longer = first.crash.model_copy(update={name: getattr(whole.crash, name) for name in counted})
    trials = first.crash.trials
    return first.model_copy(update={"crash": longer}) == whole and trials == whole.crash.trials[: len(trials)]


def _size(plan: Plan) -> str:
    return f"at scale `{plan.scale.name}`" if plan.scale else "without a scale"


def check_same_machine(folder: RunFolder, now: Machine) -> None:
    """Refuse to resume a run on another machine: its blocks would not be comparable."""
    before = folder.machine()
    if before is None:
        folder.write(now)
        return
    if changed := changed_machine(before, now):
        raise RunFolderError(
            f"{folder.path} was made on another machine ({'; '.join(changed)}), so its trials would not be "
            "comparable; start a new run without --resume"
        )


def check_same_dump(folder: RunFolder, workload: str, now: Dumped | None) -> None:
    """Refuse to resume a run with another dump of a server: its blocks would have unlike data."""
    cells = {cell.id for cell in folder.plan().every_cell if cell.workload == workload}
    dumps = [(one.cell, one.data.dump) for one in folder.trials() if one.data]
    for cell, then in dumps + [(one.cell, one.dump) for one in folder.cuts()]:
        if now and then and cell in cells and then.sha256 != now.sha256:
            raise RunFolderError(
                f"{folder.path} measured the data of {then.at}, and the dump of {now.at} has others, so its "
                "trials would not be comparable; start a new run without --resume"
            )


def changed_machine(before: Machine, now: Machine) -> list[str]:
    """Return what makes a machine another one; empty if it is the same."""
    return [f"{fact}: {then} then, {today} now" for fact, then, today in differences(before, now)]
