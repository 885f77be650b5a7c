"""Values without I/O: what is locked, for what, by which bounds, and what came out."""
