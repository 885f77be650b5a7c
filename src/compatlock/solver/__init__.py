"""The search for the best set of versions, without any I/O.

`search` yields `Need` batches and goes on when its universe holds them; see docs/architecture.md.
"""
