"""Reads a PyTorch module and writes it as a Kerf task. Runs in the user's Python, in a process of its own."""
