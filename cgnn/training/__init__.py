"""One training loop for all models."""
