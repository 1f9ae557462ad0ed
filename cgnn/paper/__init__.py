"""The paper's reported numbers and published hyperparameters, and switches for what it leaves open."""
