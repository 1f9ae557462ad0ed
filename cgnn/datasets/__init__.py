"""Download raw files and turn them into graphs and splits."""
