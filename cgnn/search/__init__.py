"""Hyperparameter search: Orion's store, the trials, the plots."""
