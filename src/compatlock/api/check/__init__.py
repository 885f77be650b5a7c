"""Checking what somebody has: pins, locks, environments."""
