"""Speed and memory of this project, compared with the released recipe and with PyG's layers."""
