"""Find sets of package versions that really work together, and lock them."""

__version__ = "0.1.0"
