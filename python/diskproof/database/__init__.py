"""A server that is there already: its password, connections to it, and its variables."""
