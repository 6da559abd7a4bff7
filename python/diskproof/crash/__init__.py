"""The power is cut while clients commit, and the database is held to what it acknowledged."""
