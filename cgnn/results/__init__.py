"""The rows that a job writes: their schema, their files, and how they are collected."""
