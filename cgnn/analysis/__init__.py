"""What the results say: statistics and claims."""
