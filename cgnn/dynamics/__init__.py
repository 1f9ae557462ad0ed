"""The differential equations of the paper and their solvers."""
