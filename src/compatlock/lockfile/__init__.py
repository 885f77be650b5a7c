"""Lock files: written, read back, and compared."""
