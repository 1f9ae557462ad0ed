"""What the paper says and leaves open: reported numbers, published hyperparameters, fidelity switches, names."""
