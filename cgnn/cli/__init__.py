"""The commands of ``python -m cgnn``: one module per command, with the same name, imported when it is called."""
