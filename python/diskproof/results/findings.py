"""Names of the findings that runs, power cuts and importers record themselves.

The checks of `diskproof.audit` carry their own names.
"""

FINISHED = "finished"
"""A trial or a cut broke off."""

START = "start"
"""The server did not start."""

STATEMENT = "statement"
"""The server's parser refused statements of the load."""

STOPPED = "stopped"
"""The lab itself was stopped while it measured."""

CLOCK = "clock"
"""The machine's clock was set while it measured."""

SETTINGS = "settings"
"""How the server or fio is set up, or a setting that did not hold."""

REPEATED = "repeated"
"""Other work disturbed the trial when it was first run, so it was run again."""

RIGHTS = "rights"
"""What the account may not see on a server that was there already."""

ONLY_ASKED = "only asked"
"""What nobody can see of a server that was there already."""

DIRECT = "direct"
"""A file system does not take O_DIRECT."""

LOCK = "lock"
"""The lock on the database of a server that was there already was lost during the trial."""

IMPORTED = "imported"
"""A remark of another tool or of its importer."""

ONE_CUT = "one cut"
"""The disks of a layout were not cut at the same moment."""

UNMARKED = "unmarked writes"
"""Acknowledged writes of a replay that no row of ours tells of."""

ONE_STATE = "one state"
"""A state of a disk did harm in one of two tries."""

BINARY_LOG = "binary log"
"""The binary log was not compared with the tables."""

EVIDENCE = "evidence"
"""No evidence of a cut was kept."""

CLEARED = "cleared"
"""Something could not be cleared away after a cut."""
