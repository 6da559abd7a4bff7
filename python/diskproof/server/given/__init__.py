"""Servers that are there already: reached by a URL; never started, stopped or placed by us."""

from diskproof.server.given.found import GivenServer, find_given

__all__ = ["GivenServer", "find_given"]
