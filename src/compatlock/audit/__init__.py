"""Mechanical checks of a lock's artefacts: what is in the files, beside what their metadata says."""
