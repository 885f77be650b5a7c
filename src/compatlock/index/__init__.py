"""The package index: asking it, reading what it answers, and keeping that on disk."""
