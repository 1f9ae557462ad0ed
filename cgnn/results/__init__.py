"""The rows a job writes: their schema, the files that hold them, and how they are collected."""
