"""uv.lock, through the uv binary: the entries it needs in pyproject.toml, and the comparison after it ran."""
