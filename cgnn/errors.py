"""The one exception a person is meant to read."""


class UserError(Exception):
    """Something the user can mend: names the file or key, what was found, what was expected, what to do.

    ``python -m cgnn`` prints it without a traceback and exits with 2; anything else is a bug and crashes.
    """
