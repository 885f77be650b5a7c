"""Facts and profiles: what is true beside declared metadata, and named sets of requirements."""
