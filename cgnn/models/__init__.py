"""Every model of the paper, one a file."""
