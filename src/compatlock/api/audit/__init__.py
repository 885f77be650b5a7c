"""Auditing artefacts, learning from them, and keeping the table of facts honest."""
