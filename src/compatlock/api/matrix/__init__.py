"""Compatibility matrices: made in parts, and written in many forms."""
