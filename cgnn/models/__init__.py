"""The models of the paper, one per file."""
