"""Option files of a study's tunings: what they set becomes the tuning's variables."""

from dataclasses import replace

from diskproof.families import of
from diskproof.families.facts import FamilyFacts
from diskproof.importers.options import MY_CNF, POSTGRESQL_CONF
from diskproof.importers.read import as_text
from diskproof.results.imported import Settings
from diskproof.study.part import KeptFile
from diskproof.study.read import StudyFile
from diskproof.study.tuning import Tuning

FORMATS = {"mysql": MY_CNF, "postgresql": POSTGRESQL_CONF}

OFF = ("skip_", "disable_")
"""Before the name of a switch of the MySQL family: it is off."""

OURS = {
    "archive_command",
    "bind_address",
    "lc_messages",
    "log_destination",
    "logging_collector",
    "max_connections",
    "ssl",
    "unix_socket_group",
    "unix_socket_permissions",
}
"""Besides places and memory: connections, the log that the lab reads, and commands that write elsewhere."""


def with_option_files(file: StudyFile) -> StudyFile:
    """Return the study with the options of each tuning's file among its variables, which win.

    The notes say what is left out. ImportRefusedError if a file is none.
    """
    tunings, notes = {}, []
    for name, tuning in file.study.tunings.items():
        tunings[name] = tuning
        if tuning.option_file is not None:
            family, kept = tuning.option_file
            values, left_out = _values(_settings(family, kept), of(family))
            tunings[name] = _merged(tuning, values)
            if left_out:
                notes.append(
                    f"tuning `{name}`: left out of {kept.path.name}, because the lab decides it: "
                    f"{', '.join(left_out)}"
                )
    study = file.study.model_copy(update={"tunings": tunings})
    return replace(file, study=study, notes=(*file.notes, *notes))


def _settings(family: str, kept: KeptFile) -> Settings:
    text, _ = as_text(kept.path, kept.content)
    (settings,) = FORMATS[family].read(text)
    assert isinstance(settings, Settings)
    return settings


def _values(settings: Settings, family: FamilyFacts) -> tuple[dict[str, str], list[str]]:
    """Return the variables that a file sets, and the names of what is left out.

    Paths are left out: a run writes to its own places only. So is what may be unknown to the server: options
    that are `loose`, and groups of one series.
    """
    values, left_out = {}, [option.name for option in settings.of_series]
    for name, given in settings.values.items():
        value = "ON" if given is None else given
        switch = next((name.removeprefix(one) for one in OFF if name.startswith(one)), "")
        if name == "log_bin":
            values[name] = "OFF" if value.upper() in ("0", "OFF") else "ON"
        elif switch in family.options.known:
            values[switch] = "OFF"
        elif (
            name in OURS | {family.memory_variable, *family.options.places, *settings.loose}
            or name.startswith(OFF)
            or "/" in value
        ):
            left_out.append(name)
        else:
            values[name] = value
    return values, list(dict.fromkeys(left_out))


def _merged(tuning: Tuning, values: dict[str, str]) -> Tuning:
    own = {name.replace("-", "_").lower(): value for name, value in tuning.variables.items()}
    return tuning.model_copy(update={"variables": values | own})
