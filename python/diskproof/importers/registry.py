"""Every format that is read, in the order in which a text is tried: the table of contents of this room.

What has a mark of its own stands before what could be anybody's: an option file is a list of words.
"""

from diskproof.importers.base import Format

FORMATS: tuple[Format, ...] = ()
