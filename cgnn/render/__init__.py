"""Tables, figures, the paper and the scorecard."""
