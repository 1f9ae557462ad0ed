"""Speed and memory of this project beside the released recipe and beside PyG's own layers."""
