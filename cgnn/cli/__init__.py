"""The verbs of ``python -m cgnn``: one module each, named as the verb, imported when called."""
