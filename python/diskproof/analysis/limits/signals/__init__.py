"""What speaks for and against each limit: a file a limit, a function an instrument, silent where open."""
