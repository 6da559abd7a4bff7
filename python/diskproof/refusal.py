"""What a user can mend: said in words, without a traceback, and answered with exit code 2."""


class RefusalError(Exception):
    """Something cannot be done as asked. The message says what was wrong, where, and what to do next."""
