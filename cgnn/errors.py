"""The exception for errors that the user can fix."""


class UserError(Exception):
    """An error that the user can fix: it names the file or key, what was found, what was expected, and what to do.

    ``python -m cgnn`` prints it without a traceback and exits with 2. Any other exception is a bug.
    """
