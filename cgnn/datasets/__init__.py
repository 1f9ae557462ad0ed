"""From bytes on the network to graphs and splits."""
