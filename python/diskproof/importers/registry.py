"""Every format that is read, in the order in which a text is tried: the table of contents of this room.

Formats with a mark of their own come first; an option file is a mere list of words, and comes last.
"""

from diskproof.importers import hammerdb, options, pgbench, variables
from diskproof.importers.base import Format
from diskproof.importers.fio.people import PEOPLE
from diskproof.importers.fio.results import JSON
from diskproof.importers.sysbench.form import SYSBENCH

FORMATS: tuple[Format, ...] = (
    JSON,
    PEOPLE,
    pgbench.PGBENCH,
    hammerdb.HAMMERDB,
    SYSBENCH,
    variables.VARIABLES,
    options.MY_CNF,
    options.POSTGRESQL_CONF,
)
