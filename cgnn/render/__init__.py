"""What a reader sees: tables, figures, the paper, the scorecard."""
